import { Min } from 'class-validator';
import { Column, CreateDateColumn, Entity, Index, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';

import { Product } from './product.js';
import { User } from './user.js';

/** An order of one product, which requests and responses name by `productId`. */
@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Product, { nullable: false })
  product!: Product;

  @Column('integer')
  @Min(1)
  quantity!: number;

  @Index()
  @ManyToOne(() => User, { nullable: false })
  customer!: User;

  @CreateDateColumn()
  placedAt!: Date;
}
