import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('products')
export class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  name!: string;

  @Column({ type: 'text' })
  description!: string;

  @Column('float')
  price!: number;

  @Column('integer')
  stock!: number;

  @Column()
  active!: boolean;

  @CreateDateColumn()
  createdAt!: Date;
}
