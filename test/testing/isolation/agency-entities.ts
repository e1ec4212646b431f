/** The 12 entities of an application with tenants, and their records. */
import type { TestUser } from 'declarest/testing';
import {
  Column,
  CreateDateColumn,
  type DataSource,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  type ObjectLiteral,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';

@Entity()
export class Tenant {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @Column({ length: 10, default: 'free' }) plan!: string;
}

@Entity()
export class Customer {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 40 }) name!: string;
  @Column({ length: 60, unique: true }) email!: string;
  /** Hidden from everybody but administrators. */
  @Column({ default: 0 }) creditLimit!: number;
  @OneToMany('Project', 'customer') projects!: Relation<Project>[];
}

@Entity()
export class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 20 }) label!: string;
}

@Entity()
export class Project {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 40 }) name!: string;
  @VersionColumn() version!: number;
  /** As most tests have it: the time at which the test has created the record. */
  @CreateDateColumn() createdAt!: Date;
  @ManyToOne(() => Customer, ({ projects }) => projects, { nullable: true, onDelete: 'SET NULL' })
  customer!: Relation<Customer> | null;
  @ManyToMany(() => Tag) @JoinTable({ name: 'project_tag' }) tags!: Tag[];
  @OneToMany('Task', 'project') tasks!: Relation<Task>[];
}

@Entity()
export class Task {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ default: false }) done!: boolean;
  @ManyToOne(() => Project, ({ tasks }) => tasks, { nullable: false, onDelete: 'CASCADE' }) project!: Project;
}

@Entity()
export class Comment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column() writerId!: number;
  @ManyToOne(() => Task, { nullable: false, onDelete: 'CASCADE' }) task!: Task;
}

@Entity()
export class Invoice {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 10 }) state!: string;
  @Column() total!: number;
  /** Hidden from everybody but administrators. */
  @Column({ default: 0 }) margin!: number;
  @ManyToOne(() => Customer, { nullable: false, onDelete: 'CASCADE' }) customer!: Customer;
}

@Entity()
export class Payment {
  @PrimaryGeneratedColumn() id!: number;
  @Column() amount!: number;
  @ManyToOne(() => Invoice, { nullable: false, onDelete: 'CASCADE' }) invoice!: Invoice;
}

/** Of one user. */
@Entity()
export class Note {
  @PrimaryColumn({ length: 36 }) id!: string;
  @Column({ length: 40 }) text!: string;
  @Column() ownerId!: number;
}

@Entity()
export class Page {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ length: 100 }) content!: string;
}

@Entity()
export class Setting {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ length: 20 }) value!: string;
}

@Entity()
export class Visit {
  @PrimaryGeneratedColumn() id!: number;
  @Column() tenantId!: number;
  @Column({ length: 20 }) page!: string;
  @Column() at!: Date;
}

export const ENTITIES = [Tenant, Customer, Tag, Project, Task, Comment, Invoice, Payment, Note, Page, Setting, Visit];

export const ANN: TestUser = { sub: 1, email: 'ann@one.example', roles: ['USER'], claims: { tenantId: 1 } };
export const BOB: TestUser = { sub: 2, email: 'bob@two.example', roles: ['USER'], claims: { tenantId: 2 } };

const times = <R>(count: number, make: (place: number) => R): R[] =>
  Array.from({ length: count }, (_, place) => make(place));

/** Records of tenant 1 and of tenant 2 in turn; user 1 belongs to tenant 1. */
export async function seed(dataSource: DataSource): Promise<void> {
  const insert = (entity: new () => object, count: number, make: (place: number, tenantId: number) => object) =>
    dataSource.getRepository<ObjectLiteral>(entity).insert(times(count, (place) => make(place, 1 + (place % 2))));
  // The parent of a record belongs to the same tenant.
  const parent = (place: number, count: number): { id: number } => ({ id: 1 + (place % count) });
  await insert(Tenant, 2, (place) => ({ name: `Tenant ${place}` }));
  await insert(Customer, 6, (place, tenantId) => ({
    tenantId,
    name: `Customer ${place}`,
    email: `customer${place}@mail.example`,
    creditLimit: place * 100,
  }));
  await insert(Tag, 4, (place, tenantId) => ({ tenantId, label: `tag ${place}` }));
  await insert(Project, 6, (place, tenantId) => ({
    tenantId,
    name: `Project ${place}`,
    customer: parent(place, 6),
  }));
  const links = times(6, (place) => ({ projectId: place + 1, tagId: parent(place, 4).id }));
  await dataSource.createQueryBuilder().insert().into('project_tag').values(links).execute();
  await insert(Task, 10, (place) => ({ title: `Task ${place}`, project: parent(place, 6), done: place % 3 === 0 }));
  await insert(Comment, 8, (place, writerId) => ({ text: `Comment ${place}`, writerId, task: parent(place, 10) }));
  await insert(Invoice, 8, (place, tenantId) => ({
    tenantId,
    state: place % 3 === 0 ? 'open' : 'paid',
    total: place * 10,
    margin: place,
    customer: parent(place, 6),
  }));
  await insert(Payment, 8, (place) => ({ amount: 5 + place, invoice: parent(place, 8) }));
  await insert(Note, 6, (place, ownerId) => ({ id: noteId(place), text: `Note ${place}`, ownerId }));
  await insert(Page, 6, (place, tenantId) => ({ tenantId, title: `Page ${place}`, content: `Content ${place}` }));
  await insert(Setting, 6, (place, tenantId) => ({ tenantId, name: `name ${place}`, value: `value ${place}` }));
  const at = new Date('2026-01-31T09:30:15Z');
  await insert(Visit, 6, (place, tenantId) => ({ tenantId, page: `page ${place}`, at }));
}

const noteId = (place: number): string => `0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e2${place}`;

/** Changes and removes what the caller may not see: records of the other tenant, and hidden fields. */
export async function varyFor(dataSource: DataSource, { sub, claims }: TestUser): Promise<void> {
  const tenantId = claims?.['tenantId'] === 1 ? 2 : 1;
  const ownerId = sub === 1 ? 2 : 1;
  const change = (entity: new () => object, where: object, changes: object) =>
    dataSource.getRepository<ObjectLiteral>(entity).update(where, changes);
  const remove = (entity: new () => object, id: number) =>
    dataSource.getRepository<ObjectLiteral>(entity).delete({ id });
  const { driver } = dataSource;
  const calculated = (column: string, before: string, after = '') => ({
    [column]: () => `${before} ${driver.escape(column)} ${after}`,
  });
  await dataSource.createQueryBuilder().update(Customer).set(calculated('creditLimit', '1000 -')).execute();
  await dataSource.createQueryBuilder().update(Invoice).set(calculated('margin', '20 -')).execute();
  await change(Tenant, { id: tenantId }, { name: 'Other name', plan: 'paid' });
  await change(Customer, { tenantId }, { name: 'Other', email: () => `CONCAT('x', ${driver.escape('email')})` });
  await change(Tag, { tenantId }, { label: 'other' });
  await change(Project, { tenantId }, { name: 'Other project' });
  await change(Task, { project: { id: tenantId } }, { title: 'Other task', done: true });
  await change(Comment, { task: { id: tenantId } }, { text: 'Other comment' });
  await change(Invoice, { tenantId }, { total: 1_000, state: 'open' });
  await change(Payment, { invoice: { id: tenantId } }, { amount: 99 });
  await change(Note, { ownerId }, { text: 'Other note' });
  await change(Page, { tenantId }, { content: 'Other content' });
  await change(Setting, { tenantId }, { value: 'other value' });
  await change(Visit, { tenantId }, { page: 'other page' });
  for (const entity of [Comment, Payment, Task, Page, Setting, Visit]) await remove(entity, tenantId);
}
