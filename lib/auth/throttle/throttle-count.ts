/** The table of failed attempts, for `throttle: { storage: 'database' }`. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from '../time-column.js';

/** How often something has failed, until the count ends. */
@Entity('declarest_throttle_count')
export class ThrottleCount {
  /** SHA-256 of what is counted: it names no account. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  id!: string;

  @Column({ type: 'int' })
  count!: number;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}
