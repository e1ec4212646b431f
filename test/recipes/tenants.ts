/** The tenant of a user is a column of the user; a scope and a hook keep records apart. */
import { Injectable, Module } from '@nestjs/common';
import {
  AuthModule,
  AuthUser,
  CrudController,
  CrudModule,
  type HookContext,
  type ScopeContext,
  useScope,
} from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Member extends AuthUser {
  @Column({ type: 'integer', default: 0 }) tenantId!: number;
}

@Entity()
export class Invoice {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
  @Column('integer') tenantId!: number;
}

@Injectable()
export class TenantScope {
  constructor(private readonly dataSource: DataSource) {}

  async scope({ user }: ScopeContext) {
    const member = user && (await this.dataSource.manager.findOneBy(Member, { id: Number(user.id) }));
    return member ? { tenantId: member.tenantId } : false;
  }
}

export class InvoicesController extends CrudController({
  entity: Invoice,
  endpoint: '/api/invoices',
  scope: useScope(TenantScope),
  fieldPermissions: { tenantId: { write: 'never' } },
}) {
  override async beforeCreate(_: unknown, { manager, user }: HookContext) {
    const { tenantId } = await manager.findOneByOrFail(Member, { id: Number(user?.id) });
    return { tenantId };
  }
}

@Module({
  imports: [
    AuthModule.forRoot({ userClass: Member, defaultAccess: 'authenticated', registration: false }),
    CrudModule.forFeature(InvoicesController),
  ],
  providers: [TenantScope],
})
export class TenantsModule {}
