import { AuthUser } from 'declarest';
import { Entity } from 'typeorm';

/** A customer, or by role a member of the staff or an administrator. */
@Entity('users')
export class User extends AuthUser {}
