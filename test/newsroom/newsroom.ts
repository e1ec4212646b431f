/** The newsroom: authors write, editors publish, everyone reads what is published. */
import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AuthModule, CrudModule, type CrudOptions, type JwtKey, type Mailer, SecurityConfig } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc, type OidcProvider } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { hasFactor, secondFactor } from 'declarest-logins/second-factor';
import { Article, Author, Tag, User } from './entities.js';

const articles: CrudOptions<Article> = {
  entity: Article,
  endpoint: '/api/articles',
  enablePagination: true,
  enableSearch: true,
  searchableFields: ['title', 'body'],
  filterableFields: ['status', 'publishedAt', 'words', 'author.name', 'tags.word'],
  sortableFields: ['publishedAt', 'title', 'words'],
  defaultSort: '-publishedAt',
  includableRelations: ['author', 'tags'],
  linkableRelations: ['tags'],
  aggregatableFields: ['status', 'authorId', 'words'],
  enableRestore: true,
  deletedRoles: ['EDITOR'],
  scope: ({ user }) => user?.roles.includes('EDITOR') || [{ status: 'published' }, { owner: { id: +(user?.id ?? 0) } }],
  owner: { field: 'ownerId', except: ['EDITOR'] },
  fieldPermissions: {
    slug: { write: 'once' },
    status: { write: ['EDITOR'] },
    editorNotes: { read: ['EDITOR'], write: ['EDITOR'] },
  },
};

class NewsroomSecurity extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
    this.publicEndpoints('GET /api/articles/**', 'GET /api/authors/**', 'GET /api/tags/**');
    this.requireRole('EDITOR', 'GET /api/articles/aggregate', 'POST,PUT,PATCH,DELETE /api/tags/**');
    this.requireRole('LOGIN', 'DELETE /api/authors/**');
    this.requirePolicy('second factor', hasFactor(), 'DELETE /api/tags/**');
  }
}

@Module({ providers: [NewsroomSecurity] })
export class Newsroom {
  static with(database: TypeOrmModuleOptions, mailer: Mailer, google: OidcProvider, jwtKeys: JwtKey[]): DynamicModule {
    const mails = { passwordReset: true, mailer: { useValue: mailer }, accountLinks: 'https://news.example' };
    const devices = passkeys({ rpId: 'news.example', origins: ['https://news.example'] });
    const plugins = [secondFactor(), devices, oidc({ providers: { google } }), apiKeys()];
    const auth = AuthModule.forRoot({ userClass: User, jwtKeys, sessions: { cookie: true }, plugins, ...mails });
    const crud = CrudModule.forFeature(
      articles,
      { entity: Author, endpoint: '/api/authors', maxListSize: 500, owner: { field: 'ownerId', except: ['EDITOR'] } },
      { entity: Tag, endpoint: '/api/tags', enablePagination: true },
    );
    return { module: Newsroom, imports: [TypeOrmModule.forRoot(database), auth, crud] };
  }
}
