/** Relations that entities declare in unusual ways. */
import { Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { getRepositoryToken } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
import { CrudController } from 'declarest';
import {
  Column,
  DataSource,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { crudError, startCrud } from './service.js';
import { startTwins } from './twins.js';

@Entity()
class Country {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ length: 2, unique: true }) code!: string;
  @OneToMany('City', 'home') cities!: Promise<Relation<City>[]>;
}

class Address {
  @Column({ length: 20, nullable: true }) street!: string;
  @ManyToOne(() => Country, { nullable: true }) country!: Country | null;
}

@Entity()
class City {
  @PrimaryGeneratedColumn() id!: number;
  @Column(() => Address) address!: Address;
  @ManyToOne(() => Country, ({ cities }) => cities, { nullable: true }) home!: Promise<Country | null>;
  @Column({ type: 'varchar', length: 2, nullable: true }) visitedCode!: string | null;
  @ManyToOne(() => Country, { nullable: true })
  @JoinColumn({ name: 'visitedCode', referencedColumnName: 'code' })
  visited!: Country | null;
}

@Entity()
class Basket {
  @PrimaryGeneratedColumn() id!: number;
  @VersionColumn() version!: number;
  @ManyToMany(() => Country) @JoinTable() countries!: Country[];
}

const CODES = ['at', 'be'] as const;

describe.each(DATABASES)('on %s', (database) => {
  it('[7.4] lazy relations, those of embedded objects, and those to another column than the key', async () => {
    const twins = await startTwins('express', {
      database,
      entities: [City, Country],
      resources: [
        {
          entity: City,
          endpoint: '/cities',
          maxListSize: 9,
          includableRelations: ['home', 'home.cities', 'visited', 'address.country' as never],
        },
        { entity: Country, endpoint: '/countries', maxListSize: 9, includableRelations: ['cities'] },
      ],
    });
    const [austria, belgium] = CODES.map((code, index) => [code, `00000000-0000-4000-8000-00000000000${index}`]);
    for (const country of [austria, belgium])
      await twins.query(`INSERT INTO country (code, id) VALUES ('${country?.join("', '")}')`);
    for (const city of [
      { address: { street: 'Ring', countryId: austria?.[1] }, homeId: austria?.[1], visitedCode: 'be' },
      { address: { street: 'Gasse', countryId: null }, homeId: belgium?.[1], visitedCode: null },
    ])
      expect((await twins.post('/cities', city)).status).toBe(201);
    const data = async (url: string): Promise<unknown> => (await twins.get(url)).json.data as unknown;
    expect(await data('/cities?include=home,visited&fields=id&fields[home]=code&fields[visited]=code')).toEqual([
      { id: 1, home: { code: 'at' }, visited: { code: 'be' } },
      { id: 2, home: { code: 'be' }, visited: null },
    ]);
    expect(await data('/cities?include=address.country&fields=address.street&fields[address.country]=code')).toEqual([
      { address: { street: 'Ring', country: { code: 'at' } } },
      { address: { street: 'Gasse', country: null } },
    ]);
    expect(await data('/cities/1?include=home.cities&fields=id&fields[home]=code&fields[home.cities]=id')).toEqual({
      id: 1,
      home: { code: 'at', cities: [{ id: 1 }] },
    });
    expect(await data('/countries?include=cities&fields[cities]=id')).toHaveLength(2);
    await twins.close();
  });

  it('[8.3] other links are a new version of a record, also where nothing else can be written', async () => {
    const twins = await startTwins('express', {
      database,
      entities: [Basket, City, Country],
      resources: [{ entity: Basket, endpoint: '/baskets', maxListSize: 9, linkableRelations: ['countries'] }],
    });
    const id = '00000000-0000-4000-8000-00000000000a';
    await twins.query(`INSERT INTO country (id, code) VALUES ('${id}', 'at')`);
    expect((await twins.post('/baskets', {})).json.data).toEqual({ id: 1, version: 1, countriesIds: [] });
    expect((await twins.put('/baskets/1', { countriesIds: [id.toUpperCase()] })).json.data).toEqual({
      id: 1,
      version: 2,
      countriesIds: [id],
    });
    expect((await twins.get('/baskets/1')).json.data.version).toBe(2);
    await twins.close();
  });
});

it('[7.4] a relation whose column no client can read cannot be included', async () => {
  @Entity()
  class Secret {
    @PrimaryGeneratedColumn() id!: number;
    @Exclude() @ManyToOne(() => Country) country!: Country;
  }
  const error = await crudError('express', {
    entities: [Secret, City, Country],
    resources: [{ entity: Secret, endpoint: '/secrets', includableRelations: ['country'] }],
  });
  expect(error.message).toBe(
    'CRUD option `includableRelations` of Secret must be relations with a foreign key that clients can read, got "country", whose countryId is hidden. Make countryId readable, or leave the relation out.',
  );
});

it('[8.3] the field of ids must not have the name of a column', async () => {
  @Entity()
  class Clash {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 9 }) countriesIds!: string;
    @ManyToMany(() => Country) @JoinTable() countries!: Country[];
  }
  const error = await crudError('express', {
    entities: [Clash, City, Country],
    resources: [{ entity: Clash, endpoint: '/clashes', linkableRelations: ['countries'] }],
  });
  expect(error.message).toContain('must be relations without a column `countriesIds`, got "countries". Rename');
});

describe('[7.4] the related resource may be request-scoped', () => {
  @Injectable({ scope: Scope.REQUEST })
  class PerRequest {}
  class Countries extends CrudController<Country>({ entity: Country, endpoint: '/countries', maxListSize: 9 }) {
    constructor(readonly perRequest: PerRequest) {
      super();
    }
  }
  Injectable()(Countries);
  Reflect.defineMetadata('design:paramtypes', [PerRequest], Countries);
  const cities = { entity: City, endpoint: '/cities', maxListSize: 9, includableRelations: ['visited'] } as const;

  it('where its repository is not', async () => {
    const service = await startCrud('express', {
      entities: [City, Country],
      resources: [cities],
      controllers: [Countries],
      providers: [PerRequest],
    });
    expect((await service.get('/cities?include=visited')).status).toBe(200);
    await service.close();
  });

  it('and where that is too, the service refuses to boot', async () => {
    const repository = {
      provide: getRepositoryToken(Country),
      scope: Scope.REQUEST,
      inject: [REQUEST, DataSource],
      useFactory: (_: unknown, dataSource: DataSource) => dataSource.getRepository(Country),
    };
    const error = await crudError('express', {
      entities: [City, Country],
      resources: [cities],
      controllers: [Countries],
      providers: [PerRequest, repository],
    });
    expect(error.message).toBe(
      'CRUD option `includableRelations` of City must be relations to entities whose repository is the same for all requests, got "visited". Leave it out.',
    );
  });
});
