/** Classes as other applications have them: inheritance, listeners, constructors, getters, lazy and active records. */
import {
  AfterLoad,
  BaseEntity,
  BeforeInsert,
  BeforeUpdate,
  ChildEntity,
  Column,
  CreateDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  TableInheritance,
} from 'typeorm';
import { Exclude, Expose, Transform } from 'class-transformer';
import { IsEmail, IsOptional, MaxLength } from 'class-validator';
import type { Model } from './model.js';

@Entity()
export class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
}

@Entity()
@TableInheritance({ column: { type: 'varchar', name: 'type' } })
export class Content {
  @PrimaryGeneratedColumn() id!: number;
  @Column() title!: string;
}

@ChildEntity()
class Photo extends Content {
  @Column({ type: 'varchar', nullable: true }) size!: string | null;
  @ManyToOne(() => Author, { nullable: true }) photographer!: Author | null;
}

@ChildEntity('question')
class Question extends Content {
  @Column({ type: 'int', default: 0 }) answers!: number;
  @Column({ type: 'text', nullable: true }) body!: string | null;
}

@ChildEntity()
class Video extends Content {
  @ManyToOne(() => Author, { nullable: true }) trailer!: Author | null;
  @Column({ nullable: true }) seconds!: number;
}

/** Its discriminator is a property, as many applications have it. */
@Entity()
@TableInheritance({ column: 'kind' })
class Vehicle {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column() kind!: string;
  @Column({ length: 20 }) plate!: string;
}

@ChildEntity('truck')
class Truck extends Vehicle {
  @Column({ type: 'int', nullable: true }) axles!: number;
}

@Entity()
class Person extends BaseEntity {
  @PrimaryGeneratedColumn() id!: number;
  @Column() firstName!: string;
  @Column() lastName!: string;
  #cache: string | undefined;
  private readonly history: string[] = [];
  static readonly all = new Map<number, Person>();

  get fullName(): string {
    this.#cache ??= `${this.firstName} ${this.lastName}`;
    return this.#cache;
  }

  greet(): string {
    this.history.push('greeted');
    return `I am ${this.fullName}`;
  }
}

abstract class Base<T extends string | number> {
  @PrimaryGeneratedColumn() id!: number;
  @CreateDateColumn({ type: undefined as never }) created!: Date;
  @Column({ type: 'varchar', length: 30, nullable: true }) tag!: T | null;
}

@Entity()
class Derived extends Base<string> {
  @Column() name!: string;
}

@Entity()
class Login {
  @PrimaryGeneratedColumn() id!: number;
  @Column() @IsEmail() email!: string;
  @Column({ default: '' }) @IsOptional() @MaxLength(20) nick!: string;
  @Exclude() @Column({ type: 'varchar', nullable: true }) passwordHash!: string | null;
  @Expose() @Transform(({ value }: { value: unknown }) => value) @Column({ default: 'x' }) theme!: string;
}

/** A constructor with arguments, as object-oriented code has it. */
@Entity()
class Coupon {
  @PrimaryGeneratedColumn() id!: number;
  @Column() code!: string;
  @Column({ type: 'int' }) percent!: number;
  constructor(values?: Partial<Coupon>) {
    Object.assign(this, values);
  }
}

@Entity()
class Subscriber {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @Column({ default: '' }) slug!: string;
  @Column({ default: 0 }) saved!: number;
  greeting?: string;

  /** An update has only the columns that change. */
  @BeforeInsert() @BeforeUpdate() makeSlug(): void {
    if (this.name) this.slug = this.name.toLowerCase();
  }
  @AfterLoad() greet(): void {
    this.greeting = `Hello ${this.name}`;
  }
}

/** Its listener fills the relation of a foreign key column with half an object. */
@Entity()
class Review {
  @PrimaryGeneratedColumn() id!: number;
  @Column() text!: string;
  @Column({ nullable: true }) authorId!: number;
  @ManyToOne(() => Author, { nullable: true }) @JoinColumn({ name: 'authorId' }) author!: Author | null;
  @AfterLoad() addAuthor(): void {
    this.author = { name: 'unknown' } as Author;
  }
}

/** A class decorator that puts a property on the prototype. */
const named =
  (name: string): ClassDecorator =>
  ({ prototype }) => {
    Object.defineProperty(prototype, 'resourceName', { value: name, enumerable: true, writable: true });
  };

@Entity()
@named('pages')
class Page {
  @PrimaryGeneratedColumn() id!: number;
  @Column() path!: string;
  @BeforeUpdate() touch(): void {}
}

export const CLASSES: readonly Model[] = [
  { entity: Author, records: () => [{ name: 'Ann' }, { name: 'Bob' }], change: { name: 'Anna' }, by: 'name' },
  { entity: Content, records: () => [{ title: 'A' }, { title: 'B' }], change: { title: 'C' }, by: 'title' },
  {
    entity: Photo,
    records: (of) => [
      { title: 'D', size: '10x15', photographerId: of(Author)['id'] },
      { title: 'E', size: null },
    ],
    change: { size: '13x18' },
    by: 'title',
    queries: ['include=photographer'],
    options: { includableRelations: ['photographer'] },
  },
  {
    entity: Question,
    records: () => [{ title: 'F', answers: 3, body: 'Why?' }, { title: 'G' }],
    change: { answers: 4 },
    by: 'title',
  },
  {
    entity: Video,
    records: (of) => [{ title: 'H', trailerId: of(Author)['id'], seconds: 7 }, { title: 'I' }],
    change: { seconds: 8 },
    by: 'title',
  },
  {
    entity: Truck,
    needs: [Vehicle],
    records: () => [{ plate: 'W-1', axles: 3 }, { plate: 'W-2' }],
    change: { axles: 2 },
    by: 'plate',
  },
  {
    entity: Person,
    records: () => [
      { firstName: 'Ann', lastName: 'Lee' },
      { firstName: 'Bob', lastName: 'Ray' },
    ],
    change: { lastName: 'Low' },
    by: 'firstName',
  },
  {
    entity: Derived,
    records: () => [{ name: 'A', tag: 'x' }, { name: 'B' }],
    change: { tag: null },
    by: 'name',
  },
  {
    entity: Login,
    records: () => [{ email: 'ann@example.com', nick: 'ann' }, { email: 'bob@example.com' }],
    change: { nick: 'anna' },
    by: 'email',
  },
  {
    entity: Coupon,
    records: () => [
      { code: 'A', percent: 5 },
      { code: 'B', percent: 10 },
    ],
    change: { percent: 7 },
    by: 'code',
  },
  {
    entity: Subscriber,
    records: () => [{ name: 'ANN', slug: 'sent' }, { name: 'BOB' }],
    reads: { slug: 'ann' },
    change: { saved: 1 },
    by: 'name',
  },
  {
    entity: Review,
    records: (of) => [{ text: 'A', authorId: of(Author)['id'] }, { text: 'B' }],
    change: { text: 'C' },
    by: 'text',
  },
  { entity: Page, records: () => [{ path: '/a' }, { path: '/b' }], change: { path: '/c' }, by: 'path' },
];
