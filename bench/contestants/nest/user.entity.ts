import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The table that declarest's `AuthUser` has. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 254, unique: true, nullable: true })
  email!: string | null;

  @Column({ type: 'varchar', length: 64, unique: true, nullable: true })
  username!: string | null;

  @Column({ length: 60, select: false })
  password!: string;

  @Column({ length: 64, default: 'USER' })
  role!: string;

  @Column({ type: 'varchar', length: 100, nullable: true })
  firstName!: string | null;

  @Column({ type: 'varchar', length: 100, nullable: true })
  lastName!: string | null;

  @Column({ default: true })
  active!: boolean;
}
