/** The tables behind the components: a column of each kind that has an input. */
import {
  Column,
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
export class Category {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 60 }) name!: string;
}

@Entity()
export class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

@Entity()
export class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 120 }) title!: string;
  @Column({ type: 'text', nullable: true }) body!: string | null;
  @Column({ type: 'integer', default: 0 }) views!: number;
  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true }) price!: number | null;
  @Column({ type: 'boolean', nullable: true }) featured!: boolean | null;
  @Column({ type: 'simple-enum', enum: ['draft', 'review', 'published'], default: 'draft' }) status!: string;
  @Column({ type: 'date', nullable: true }) publishedOn!: string | null;
  @Column({ type: 'datetime', nullable: true }) reviewedAt!: Date | null;
  @Column({ type: 'time', nullable: true }) readingTime!: string | null;
  @Column({ type: 'simple-json', nullable: true }) links!: object[] | null;
  @Column({ type: 'simple-json', nullable: true }) keywords!: string[] | null;
  @ManyToOne(() => Category, { nullable: true }) category!: Category | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @OneToMany(() => Comment, ({ article }) => article) comments!: Comment[];
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

@Entity()
export class Comment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 200 }) text!: string;
  @ManyToOne(() => Article, ({ comments }) => comments) article!: Article;
}

/** Is paged by cursor. */
@Entity()
export class Entry {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 60 }) name!: string;
}
