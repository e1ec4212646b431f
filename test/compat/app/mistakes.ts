import { Injectable, Module, Scope, type ModuleMetadata, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, cors, CrudModule, SecurityConfig } from 'declarest';
import { Category, Product, User } from './entities.js';
import { database, jwtSecret } from './environment.js';

const category = { entity: Category, endpoint: '/api/categories' };

interface Rules {
  open(pattern: string): void;
  close(pattern: string): void;
}

const rules = (declare: (rules: Rules) => void, scope = Scope.DEFAULT): ModuleMetadata => {
  @Injectable({ scope })
  class MistakenSecurity extends SecurityConfig {
    override configure(): void {
      declare({ open: (pattern) => this.publicEndpoints(pattern), close: (pattern) => this.requireAuth(pattern) });
    }
  }
  return { providers: [MistakenSecurity] };
};

class NoEntity {
  id!: number;
}

const MISTAKES: Record<string, () => ModuleMetadata> = {
  none: () => ({}),
  'an unknown option': () => ({ imports: [CrudModule.forFeature({ ...category, pages: true } as never)] }),
  'no entity': () => ({ imports: [CrudModule.forFeature({ entity: NoEntity, endpoint: '/api/none' })] }),
  'an unknown field': () => ({
    imports: [CrudModule.forFeature({ ...category, enableSearch: true, searchableFields: ['colour' as 'name'] })],
  }),
  'one endpoint twice': () => ({ imports: [CrudModule.forFeature(category, { ...category, entity: Product })] }),
  'a path of the package': () => ({ imports: [CrudModule.forFeature({ ...category, endpoint: '/api/auth' })] }),
  'a malformed pattern': () => rules(({ open }) => open('/api/:id')),
  'a contradiction': () =>
    rules(({ open, close }) => {
      open('/api/**');
      close('/api/**');
    }),
  'request scope': () => rules(() => {}, Scope.REQUEST),
  'cors(undefined)': () => {
    cors(undefined);
    return {};
  },
};

/** An application with one wrong declaration. */
export function mistaken(mistake: string): Type {
  const auth =
    mistake === 'rules without AuthModule' ? [] : [AuthModule.forRoot({ userClass: User, jwtSecret, bcryptRounds: 4 })];
  const { imports = [], ...rest } = (MISTAKES[mistake] ?? (() => rules(() => {})))();

  @Module({ imports: [TypeOrmModule.forRoot(database()), ...auth, ...imports], ...rest })
  class MistakenModule {}
  return MistakenModule;
}
