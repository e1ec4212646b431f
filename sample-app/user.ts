import { AuthUser } from 'declarest';
import { Entity } from 'typeorm';

/** A customer, or an administrator by role. */
@Entity('users')
export class User extends AuthUser {}
