import { AuthUser } from 'declarest';
import { Entity } from 'typeorm';

@Entity('users')
export class User extends AuthUser {}
