import { IsNotEmpty, IsOptional, Min } from 'class-validator';
import { Column, DeleteDateColumn, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';

import { Category } from './category.js';
import { Review } from './review.js';

/** A product, whose category requests and responses name by `categoryId`. */
@Entity('products')
export class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  @IsNotEmpty()
  name!: string;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  @Column('float')
  @Min(0)
  price!: number;

  /** What the shop pays. Only administrators read and write it. */
  @Column({ type: 'float', nullable: true })
  @IsOptional()
  @Min(0)
  cost!: number | null;

  @Column('integer')
  @Min(0)
  stock!: number;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;

  @OneToMany(() => Review, ({ product }) => product)
  reviews!: Review[];

  /** DELETE sets it and keeps the row, so that an administrator can restore the product. */
  @DeleteDateColumn()
  deletedAt!: Date | null;

  /** Grows with each change. Responses carry it as `ETag`, so that `If-Match` prevents lost updates. */
  @VersionColumn()
  version!: number;
}
