/** The tables of the newsroom. */
import { AuthUser } from 'declarest';
import { Column, DeleteDateColumn, Entity, JoinTable, ManyToMany, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class User extends AuthUser {}

@Entity()
export class Author {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) name!: string;
  @Column({ type: 'varchar', length: 40, nullable: true, select: false }) feedPassword!: string | null;
  @ManyToOne(() => User, { nullable: false }) owner!: User;
}

@Entity()
export class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40, unique: true }) word!: string;
}

@Entity()
export class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 120 }) title!: string;
  @Column({ length: 120, unique: true }) slug!: string;
  @Column('text') body!: string;
  @Column('integer') words!: number;
  @Column({ type: 'simple-enum', enum: ['draft', 'published'], default: 'draft' }) status!: string;
  @Column({ type: Date, nullable: true }) publishedAt!: Date | null;
  @Column({ type: 'text', nullable: true }) editorNotes!: string | null;
  @ManyToOne(() => Author, { nullable: false }) author!: Author;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @ManyToOne(() => User, { nullable: false }) owner!: User;
  @DeleteDateColumn() deletedAt!: Date | null;
}
