import { MinLength } from 'class-validator';
import { AuthUser } from 'declarest';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class User extends AuthUser {
  @Column({ type: 'varchar', length: 40, nullable: true })
  nickname!: string | null;
}

@Entity()
export class Category {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60, unique: true })
  name!: string;
}

/** A column of every kind that drivers or versions of TypeORM read differently. */
@Entity()
export class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @MinLength(2)
  @Column({ length: 120 })
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('float')
  price!: number;

  @Column({ default: 0 })
  stock!: number;

  @Column({ type: 'bigint', nullable: true })
  barcode!: string | number | null;

  @Column({ type: 'simple-enum', enum: ['new', 'used'], default: 'new' })
  state!: string;

  @Column({ type: 'simple-json', nullable: true })
  details!: object | null;

  @Column({ type: 'boolean', default: false })
  fragile!: boolean;

  @Column({ type: 'datetime', nullable: true })
  soldAt!: Date | null;

  @Column({ type: 'varchar', select: false, nullable: true })
  supplier!: string | null;

  @CreateDateColumn()
  createdAt!: Date;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;
}

/** Its deletions are marks. */
@Entity()
export class Tag {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 20 })
  label!: string;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}
