/** A service whose resources have every option and column type that the document describes. */
import { IsEmail, Length, Max, Min } from 'class-validator';
import { CrudController, type CrudResource } from 'declarest';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';

@Entity()
export class Maker {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 40, unique: true })
  name!: string;

  @Column({ type: 'varchar', nullable: true })
  country!: string | null;

  @OneToMany(() => Item, (item) => item.maker)
  items!: Item[];
}

@Entity()
export class Label {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  text!: string;
}

export class Size {
  @Column({ type: 'integer', default: 0 })
  width!: number;

  @Column({ type: 'integer', nullable: true })
  depth!: number | null;
}

@Entity()
export class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  @Length(2, 30)
  title!: string;

  @Column({ type: 'decimal', precision: 10, scale: 2 })
  price!: number;

  @Column({ type: 'integer', default: 0 })
  @Min(0)
  @Max(1000)
  stock!: number;

  @Column({ type: 'bigint', nullable: true })
  serial!: string | null;

  @Column({ type: 'float', nullable: true })
  weight!: number | null;

  @Column({ type: 'boolean', default: true })
  active!: boolean;

  @Column({ type: 'simple-enum', enum: ['new', 'used', 'with, comma'], default: 'new' })
  state!: string;

  @Column({ type: 'date', nullable: true })
  made!: string | null;

  @Column({ type: 'time', nullable: true })
  opens!: string | null;

  @Column({ type: 'datetime', nullable: true })
  seen!: Date | null;

  @Column({ type: 'simple-json', nullable: true })
  extra!: unknown;

  @Column({ type: 'simple-array', nullable: true })
  words!: string[] | null;

  @Column({ type: 'blob', nullable: true })
  image!: Buffer | null;

  @Column({ type: 'varchar', nullable: true })
  @IsEmail()
  contact!: string | null;

  @Column({ type: 'varchar', nullable: true, select: false })
  secret!: string | null;

  @Column({ type: 'varchar', nullable: true })
  notes!: string | null;

  @Column({ type: 'varchar', default: 'x' })
  code!: string;

  @Column(() => Size)
  size!: Size;

  @ManyToOne(() => Maker, (maker) => maker.items, { nullable: true })
  maker!: Maker | null;

  @ManyToMany(() => Label)
  @JoinTable()
  labels!: Label[];

  @OneToMany(() => Remark, (remark) => remark.item)
  remarks!: Remark[];

  @CreateDateColumn()
  createdAt!: Date;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @VersionColumn()
  version!: number;
}

@Entity()
export class Remark {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;

  @ManyToOne(() => Item, (item) => item.remarks, { nullable: false })
  item!: Item;

  @Column({ type: 'integer', nullable: true })
  itemId!: number;
}

export const ENTITIES = [Maker, Label, Item, Remark];

const MakersController = CrudController({
  entity: Maker,
  endpoint: '/makers',
  enablePagination: true,
  filterableFields: true,
  includableRelations: ['items.labels'],
});

export const resources = (): CrudResource[] => [
  CrudController({
    entity: Item,
    endpoint: '/items',
    enablePagination: 'both',
    enableSearch: true,
    searchableFields: ['title', 'notes'],
    filterableFields: [
      'id',
      'title',
      'price',
      'stock',
      'serial',
      'weight',
      'active',
      'state',
      'made',
      'opens',
      'seen',
      'size.width',
    ],
    sortableFields: ['title', 'price', 'seen'],
    includableRelations: [{ relation: 'maker', controller: MakersController }, 'labels', 'remarks'],
    linkableRelations: ['labels'],
    aggregatableFields: ['price', 'stock', 'state', 'active', 'seen'],
    enableExists: true,
    enableCount: true,
    enableExport: true,
    enableImport: true,
    enableBatch: true,
    maxBatchSize: 5,
    enableRestore: true,
    deletedRoles: ['ADMIN'],
    fieldPermissions: { notes: { read: ['EDITOR'], write: ['EDITOR'] }, code: { write: 'once' } },
  }),
  MakersController,
  { entity: Maker, endpoint: '/admin/makers', enablePagination: 'cursor', sortableFields: ['name'] },
  { entity: Label, endpoint: '/labels', maxListSize: 3 },
  {
    entity: Remark,
    endpoint: '/items/:itemId/remarks',
    operations: ['findAll', 'findById', 'create', 'update', 'patch', 'delete'],
  },
];
