import { IsNotEmpty, Min } from 'class-validator';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';

import { Category } from './category.js';

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

  @Column('integer')
  @Min(0)
  stock!: number;

  @ManyToOne(() => Category, { nullable: true })
  category!: Category | null;
}
