/** Relations and trees as other applications have them. */
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  RelationId,
  Tree,
  TreeChildren,
  TreeParent,
  Unique,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import type { Model, ReadModel } from './model.js';

@Entity()
export class Owner {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @OneToMany('Pet', 'owner', { cascade: true }) pets!: Relation<Pet>[];
}

@Entity()
@Unique(['owner', 'name'])
@Index(['kind', 'name'])
class Pet {
  @PrimaryGeneratedColumn('increment') id!: number;
  @Column({ length: 40 }) name!: string;
  @Column({ length: 10, default: 'cat' }) kind!: string;
  @ManyToOne(() => Owner, ({ pets }) => pets, { onDelete: 'SET NULL', orphanedRowAction: 'delete', eager: true })
  owner!: Relation<Owner> | null;
}

/** The column and the relation beside each other. */
@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column({ name: 'owner_id', nullable: true }) ownerId!: number;
  @ManyToOne(() => Owner, { nullable: true }) @JoinColumn({ name: 'owner_id' }) owner!: Owner | null;
}

@Entity()
class Transfer {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Owner, { nullable: false }) from!: Owner;
  @ManyToOne(() => Owner, { nullable: false }) to!: Owner;
  @RelationId(({ from }: Transfer) => from) fromOwner!: number;
  @Column({ type: 'int' }) amount!: number;
}

@Entity()
class Employee {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @ManyToOne(() => Employee, ({ reports }) => reports, { nullable: true }) manager!: Relation<Employee> | null;
  @OneToMany(() => Employee, ({ manager }) => manager) reports!: Relation<Employee>[];
}

@Entity()
export class Topic {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 40 }) name!: string;
}

@Entity()
class Story {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @ManyToMany(() => Topic)
  @JoinTable({
    name: 'story_topics',
    joinColumn: { name: 'story', referencedColumnName: 'id' },
    inverseJoinColumn: { name: 'topic', referencedColumnName: 'id' },
  })
  topics!: Topic[];
}

@Entity()
class Lodger {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @ManyToOne(() => Owner, { nullable: true, lazy: true }) host!: Promise<Owner | null>;
}

/** A relation to a unique column that is not the key. */
@Entity()
export class Currency {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 3, unique: true }) iso!: string;
}

@Entity()
class Price {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'int' }) cents!: number;
  @ManyToOne(() => Currency) @JoinColumn({ name: 'currency', referencedColumnName: 'iso' }) currency!: Currency;
}

@Entity()
class Passport {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) number!: string;
  @OneToOne(() => Owner, { nullable: true, cascade: ['insert'] }) @JoinColumn() holder!: Owner | null;
}

@Entity()
class Folder {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @Column({ nullable: true }) parentId!: number;
  @ManyToOne(() => Folder, ({ children }) => children, { nullable: true }) parent!: Relation<Folder> | null;
  @OneToMany(() => Folder, ({ parent }) => parent) children!: Relation<Folder>[];
}

@Entity()
@Tree('closure-table')
class Department {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @TreeParent() parent!: Relation<Department> | null;
  @TreeChildren() children!: Relation<Department>[];
}

@Entity()
@Tree('materialized-path')
class MenuItem {
  @PrimaryGeneratedColumn() id!: number;
  @Column() label!: string;
  @TreeParent() parent!: Relation<MenuItem> | null;
  @TreeChildren() children!: Relation<MenuItem>[];
}

@Entity()
@Tree('closure-table', { closureTableName: 'region_tree' })
class Region {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column() name!: string;
  @TreeParent({ onDelete: 'CASCADE' }) parent!: Relation<Region> | null;
  @TreeChildren({ cascade: true }) children!: Relation<Region>[];
}

@Entity({ orderBy: { name: 'DESC' } })
class Contact {
  @PrimaryColumn({ generated: 'uuid', type: 'uuid' }) id!: string;
  @Column() name!: string;
  @ManyToOne(() => Owner, { createForeignKeyConstraints: false, nullable: true }) owner!: Owner | null;
}

@ViewEntity({
  expression: (dataSource) =>
    dataSource.createQueryBuilder().select('o.id', 'ownerId').addSelect('o.name', 'name').from(Owner, 'o'),
})
class OwnerName {
  @ViewColumn() ownerId!: number;
  @ViewColumn() name!: string;
}

@ViewEntity({
  expression: (dataSource) =>
    dataSource.createQueryBuilder().select('t.id', 'id').addSelect('t.name', 'name').from(Topic, 't'),
})
class TopicName {
  @PrimaryColumn() @ViewColumn() id!: string;
  @ViewColumn() name!: string;
}

const tree = { includableRelations: ['children', 'parent'], filterableFields: ['name', 'parentId'] };

export const RELATIONS: readonly Model[] = [
  { entity: Owner, records: () => [{ name: 'Ann' }, { name: 'Bob' }], change: { name: 'Anna' }, by: 'name' },
  {
    entity: Pet,
    records: (of) => [
      { name: 'Ada', kind: 'dog', ownerId: of(Owner)['id'] },
      { name: 'Bea', ownerId: null },
    ],
    change: { ownerId: null },
    by: 'name',
    queries: ['include=owner', 'filter[owner.name]=Bob'],
    options: { includableRelations: ['owner'], filterableFields: ['name', 'owner.name'] },
  },
  {
    entity: Note,
    records: (of) => [{ text: 'A', ownerId: of(Owner)['id'] }, { text: 'B' }],
    change: { text: 'C' },
    by: 'text',
    queries: ['include=owner'],
    options: { includableRelations: ['owner'] },
  },
  {
    entity: Transfer,
    records: (of) => [
      { fromId: of(Owner)['id'], toId: of(Owner)['id'], amount: 5 },
      { fromId: of(Owner)['id'], toId: of(Owner)['id'], amount: 7 },
    ],
    change: { amount: 6 },
    by: 'amount',
    queries: ['include=from,to'],
    options: { includableRelations: ['from', 'to'] },
  },
  {
    entity: Employee,
    records: () => [{ name: 'Ann', managerId: null }, { name: 'Bob' }],
    change: { name: 'Anna' },
    by: 'name',
    queries: ['include=reports,manager', 'filter[managerId][isNull]=true'],
    options: { includableRelations: ['reports', 'manager'], filterableFields: ['name', 'managerId'] },
  },
  { entity: Topic, records: () => [{ name: 'A' }, { name: 'B' }], change: { name: 'C' }, by: 'name' },
  {
    entity: Story,
    records: (of) => [
      { title: 'A', topicsIds: [of(Topic)['id']] },
      { title: 'B', topicsIds: [] },
    ],
    change: { topicsIds: [] },
    by: 'title',
    queries: ['include=topics', 'filter[topics.name]=B'],
    options: {
      includableRelations: ['topics'],
      linkableRelations: ['topics'],
      filterableFields: ['title', 'topics.name'],
    },
  },
  {
    entity: Lodger,
    records: (of) => [{ name: 'A', hostId: of(Owner)['id'] }, { name: 'B' }],
    change: { hostId: null },
    by: 'name',
    queries: ['include=host'],
    options: { includableRelations: ['host'] },
  },
  { entity: Currency, records: () => [{ iso: 'CHF' }, { iso: 'EUR' }], change: { iso: 'USD' }, by: 'iso' },
  {
    entity: Price,
    records: (of) => [
      { cents: 5, currencyId: of(Currency)['iso'] },
      { cents: 7, currencyId: of(Currency)['iso'] },
    ],
    change: { cents: 6 },
    by: 'cents',
    queries: ['include=currency'],
    options: { includableRelations: ['currency'] },
  },
  {
    entity: Passport,
    records: (of) => [{ number: 'A1', holderId: of(Owner)['id'] }, { number: 'B2' }],
    change: { number: 'C3' },
    by: 'number',
    queries: ['include=holder'],
    options: { includableRelations: ['holder'] },
  },
  {
    entity: Folder,
    records: () => [{ name: 'A', parentId: null }, { name: 'B' }],
    change: { name: 'C' },
    by: 'name',
    queries: ['include=children', 'filter[parentId][isNull]=true'],
    options: tree,
  },
  {
    entity: Department,
    records: () => [{ name: 'A', parentId: null }, { name: 'B' }],
    change: { name: 'C' },
    by: 'name',
    queries: ['include=children', 'filter[parentId][isNull]=true'],
    options: tree,
  },
  {
    entity: MenuItem,
    records: () => [{ label: 'A', parentId: null }, { label: 'B' }],
    change: { label: 'C' },
    by: 'label',
    queries: ['include=children'],
    options: { ...tree, filterableFields: ['label', 'parentId'] },
  },
  {
    entity: Region,
    records: () => [{ name: 'A', parentId: null }, { name: 'B' }],
    change: { name: 'C' },
    by: 'name',
    queries: ['include=children'],
    options: tree,
  },
  {
    entity: Contact,
    records: (of) => [{ name: 'A', ownerId: of(Owner)['id'] }, { name: 'B' }],
    change: { name: 'C' },
    by: 'name',
    queries: ['include=owner'],
    options: { includableRelations: ['owner'] },
  },
];

export const VIEWS: readonly ReadModel[] = [
  { entity: OwnerName, by: 'name', queries: ['sort=-name'] },
  { entity: TopicName, by: 'name' },
];
