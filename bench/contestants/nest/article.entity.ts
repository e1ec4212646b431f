import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';

@Entity('authors')
export class Author {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 80 })
  name!: string;
}

@Entity('articles')
export class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  title!: string;

  @Column({ length: 20 })
  status!: string;

  @Column('integer')
  views!: number;

  @Column()
  publishedAt!: Date;

  @Column('integer')
  ownerId!: number;

  @Column('integer')
  authorId!: number;

  @ManyToOne(() => Author, { nullable: false })
  @JoinColumn({ name: 'authorId' })
  author!: Author;

  @OneToMany(() => Comment, ({ article }) => article)
  comments!: Relation<Comment>[];
}

@Entity('comments')
export class Comment {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 200 })
  text!: string;

  @Column('integer')
  articleId!: number;

  @ManyToOne(() => Article, ({ comments }) => comments, { nullable: false })
  @JoinColumn({ name: 'articleId' })
  article!: Relation<Article>;
}
