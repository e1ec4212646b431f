import { Max, Min } from 'class-validator';
import { Column, Entity, Index, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm';

import { Product } from './product.js';
import { User } from './user.js';

/** What a customer says about a product. */
@Entity('reviews')
export class Review {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('integer')
  @Min(1)
  @Max(5)
  stars!: number;

  @Column({ length: 1000 })
  text!: string;

  // The two entities import each other; `Relation` keeps TypeScript from reading the class too early.
  @Index()
  @ManyToOne(() => Product, ({ reviews }) => reviews, { nullable: false, onDelete: 'CASCADE' })
  product!: Relation<Product>;

  @ManyToOne(() => User, { nullable: false })
  author!: User;
}
