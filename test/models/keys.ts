/** Primary keys as other applications have them: other names, several columns, foreign keys, texts, dates. */
import {
  BeforeInsert,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import type { Model } from './model.js';

@Entity()
export class Country {
  @PrimaryColumn({ type: 'varchar', length: 2 }) code!: string;
  @Column({ length: 60 }) name!: string;
}

@Entity()
class Asset {
  @PrimaryGeneratedColumn('uuid') uuid!: string;
  @Column() label!: string;
  @ManyToOne(() => Country, { nullable: true }) country!: Country | null;
}

@Entity('settings')
class AppSetting {
  @PrimaryColumn({ length: 50 }) key!: string;
  @Column({ type: 'text', nullable: true }) value!: string | null;
}

@Entity()
class Ticket {
  @PrimaryGeneratedColumn({ name: 'ticket_no' }) ticketNumber!: number;
  @Column({ length: 20, unique: true }) id!: string;
  @Column() subject!: string;
}

@Entity()
export class Invoice {
  @PrimaryColumn({ type: 'int' }) year!: number;
  @PrimaryColumn({ type: 'int' }) number!: number;
  @Column({ type: 'varchar', length: 40 }) customer!: string;
  @OneToMany('InvoiceLine', 'invoice') lines!: Relation<InvoiceLine>[];
}

@Entity()
class InvoiceLine {
  @PrimaryColumn({ type: 'int' }) year!: number;
  @PrimaryColumn({ type: 'int' }) number!: number;
  @PrimaryColumn({ type: 'int' }) line!: number;
  @ManyToOne(() => Invoice, ({ lines }) => lines)
  @JoinColumn([
    { name: 'year', referencedColumnName: 'year' },
    { name: 'number', referencedColumnName: 'number' },
  ])
  invoice!: Relation<Invoice>;
  @Column({ length: 40 }) text!: string;
}

@Entity()
export class Member {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
}

@Entity('groups')
export class Group {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column() title!: string;
}

/** A join table with data, as every tutorial has it. */
@Entity()
class Membership {
  @PrimaryColumn() memberId!: number;
  @PrimaryColumn({ type: 'uuid' }) groupId!: string;
  @ManyToOne(() => Member, { onDelete: 'CASCADE' }) member!: Member;
  @ManyToOne(() => Group, { onDelete: 'CASCADE' }) group!: Group;
  @Column({ default: 'reader' }) role!: string;
}

/** Both parts of its key are the same table's key, under names of their own. */
@Entity('follows')
class Follow {
  @PrimaryColumn({ name: 'follower_id', type: 'int' }) followerId!: number;
  @PrimaryColumn({ name: 'followed_id', type: 'int' }) followedId!: number;
  @ManyToOne(() => Member, { onDelete: 'CASCADE' }) @JoinColumn({ name: 'follower_id' }) follower!: Member;
  @ManyToOne(() => Member, { onDelete: 'CASCADE' }) @JoinColumn({ name: 'followed_id' }) followed!: Member;
  @Column({ default: false }) muted!: boolean;
}

@Entity()
class Measurement {
  @PrimaryColumn({ type: 'int' }) sensor!: number;
  @PrimaryColumn({ type: 'date' }) day!: string;
  @Column({ type: 'int' }) degrees!: number;
}

@Entity()
class Translation {
  @PrimaryColumn({ length: 10 }) locale!: string;
  @PrimaryColumn({ length: 80 }) path!: string;
  @Column({ length: 80 }) text!: string;
}

@Entity()
class Holiday {
  @PrimaryColumn({ type: 'date' }) day!: string;
  @Column() name!: string;
}

@Entity()
class Port {
  @PrimaryColumn({ type: 'int' }) port!: number;
  @Column() service!: string;
}

/** One to one by the key. */
@Entity()
class GroupProfile {
  @PrimaryColumn({ type: 'uuid' }) groupId!: string;
  @OneToOne(() => Group, { onDelete: 'CASCADE' }) @JoinColumn({ name: 'groupId' }) group!: Group;
  @Column({ type: 'text' }) about!: string;
}

@Entity()
class Account {
  @PrimaryColumn({ type: 'bigint' }) accountNumber!: string;
  @Column() holder!: string;
}

@Entity()
class Article {
  @PrimaryColumn({ length: 40 }) id: string = '';
  @Column({ length: 80 }) title: string = '';
  @Column({ type: 'varchar', length: 80, nullable: true }) slug!: string | null;
  @BeforeInsert() makeSlug(): void {
    this.slug ??= this.title.toLowerCase().replaceAll(' ', '-');
  }
}

@Entity()
class Label {
  @PrimaryColumn({ type: 'uuid' }) id!: string;
  @Column() text!: string;
}

let counter = 0;

@Entity()
class Voucher {
  @PrimaryColumn({ length: 40 }) id!: string;
  @Column() amount!: number;
  @BeforeInsert() generateId(): void {
    counter += 1;
    this.id ??= `voucher-${counter}`;
  }
}

@Entity()
class Plan {
  @PrimaryColumn({ type: 'simple-enum', enum: ['free', 'pro', 'team'] }) name!: string;
  @Column() price!: number;
}

const UUIDS = ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c'] as const;

export const KEYS: readonly Model[] = [
  {
    entity: Country,
    records: () => [
      { code: 'AT', name: 'Austria' },
      { code: 'BE', name: 'Belgium' },
    ],
    change: { name: 'Republic of Austria' },
    by: 'code',
  },
  {
    entity: Asset,
    records: (of) => [
      { label: 'A desk', countryId: of(Country)['code'] },
      { label: 'B chair', countryId: null },
    ],
    change: { label: 'A table' },
    by: 'label',
    queries: ['include=country', 'filter[country.name]=Belgium', 'filter[countryId]=BE'],
    options: { includableRelations: ['country'], filterableFields: ['label', 'countryId', 'country.name'] },
  },
  {
    entity: AppSetting,
    records: () => [
      { key: 'mail/from', value: 'shop@example.com' },
      { key: 'mail/to', value: null },
    ],
    change: { value: '' },
    by: 'key',
  },
  {
    entity: Ticket,
    records: () => [
      { id: 'EXT-1', subject: 'Lamp' },
      { id: 'EXT-2', subject: 'Mouse' },
    ],
    change: { id: 'EXT-9' },
    by: 'id',
  },
  {
    entity: Invoice,
    records: () => [
      { year: 2025, number: 7, customer: 'Ann' },
      { year: 2026, number: 7, customer: 'Bob' },
    ],
    change: { customer: 'Anna' },
    by: 'year',
    queries: ['include=lines'],
    options: { includableRelations: ['lines'] },
  },
  {
    entity: InvoiceLine,
    records: (of) => [
      { year: of(Invoice)['year'], number: of(Invoice)['number'], line: 1, text: 'Lamp' },
      { year: of(Invoice)['year'], number: of(Invoice)['number'], line: 2, text: 'Mouse' },
    ],
    change: { text: 'Lamp, red' },
    by: 'line',
    queries: ['include=invoice', 'filter[invoice.customer]=Bob'],
    options: { includableRelations: ['invoice'], filterableFields: ['line', 'invoice.customer'] },
  },
  {
    entity: Member,
    records: () => [{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cleo' }],
    change: { name: 'Anna' },
    by: 'name',
  },
  {
    entity: Group,
    records: () => [{ title: 'A' }, { title: 'B' }, { title: 'D' }],
    change: { title: 'C' },
    by: 'title',
  },
  {
    entity: Membership,
    records: (of) => [
      { memberId: of(Member)['id'], groupId: of(Group)['id'], role: 'editor' },
      { memberId: of(Member, 1)['id'], groupId: of(Group)['id'] },
    ],
    change: { role: 'admin' },
    by: 'role',
    queries: ['include=member,group', 'filter[member.name]=Bob'],
    options: { includableRelations: ['member', 'group'], filterableFields: ['role', 'member.name'] },
  },
  {
    entity: Follow,
    records: (of) => [
      { followerId: of(Member)['id'], followedId: of(Member)['id'], muted: false },
      { followerId: of(Member)['id'], followedId: of(Member, 1)['id'] },
    ],
    change: { muted: true },
    by: 'followedId',
    queries: ['include=follower,followed'],
    options: { includableRelations: ['follower', 'followed'] },
  },
  {
    entity: Measurement,
    records: () => [
      { sensor: 1, day: '2026-03-29', degrees: -3 },
      { sensor: 1, day: '2026-03-30', degrees: 4 },
    ],
    change: { degrees: 0 },
    by: 'day',
  },
  {
    entity: Translation,
    records: () => [
      { locale: 'de-AT', path: 'cart,100%/total?', text: 'Summe' },
      { locale: 'en', path: 'cart', text: 'Total' },
    ],
    change: { text: 'Gesamt' },
    by: 'text',
  },
  {
    entity: Holiday,
    records: () => [
      { day: '2026-12-25', name: 'Christmas' },
      { day: '2026-12-26', name: "St. Stephen's day" },
    ],
    change: { name: 'Christmas Day' },
    by: 'day',
  },
  {
    entity: Port,
    records: () => [
      { port: 0, service: 'any' },
      { port: 443, service: 'https' },
    ],
    change: { service: 'ephemeral' },
    by: 'port',
  },
  {
    entity: GroupProfile,
    records: (of) => [
      { groupId: of(Group)['id'], about: 'Readers' },
      { groupId: of(Group, 1)['id'], about: 'Writers' },
    ],
    change: { about: 'Readers and writers' },
    by: 'about',
    queries: ['include=group'],
    options: { includableRelations: ['group'] },
  },
  {
    entity: Account,
    records: () => [
      { accountNumber: '9007199254740993', holder: 'Ann' },
      { accountNumber: '9007199254740995', holder: 'Bob' },
    ],
    change: { holder: 'Anna' },
    by: 'accountNumber',
  },
  {
    entity: Article,
    records: () => [
      { id: 'first', title: 'First article' },
      { id: 'second', title: 'Second article' },
    ],
    change: { title: 'The first article' },
    by: 'id',
  },
  {
    entity: Label,
    records: () => [
      { id: UUIDS[0], text: 'red' },
      { id: UUIDS[1], text: 'rosé' },
    ],
    change: { text: 'blue' },
    by: 'id',
  },
  { entity: Voucher, records: () => [{ amount: 5 }, { amount: 10 }], change: { amount: 7 }, by: 'amount' },
  {
    entity: Plan,
    records: () => [
      { name: 'free', price: 0 },
      { name: 'pro', price: 9 },
    ],
    change: { price: 1 },
    by: 'name',
  },
];
