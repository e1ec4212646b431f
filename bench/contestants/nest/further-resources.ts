/** As many more resources as a run of the start asks for, each with an entity, a table and a controller of its own. */
import { Controller, type Type } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Entity } from 'typeorm';
import { FURTHER_RESOURCES } from '../settings.js';
import { Product } from './product.entity.js';

export interface FurtherResource {
  readonly entity: Type<Product>;
  readonly endpoint: string;
}

export const furtherResources: readonly FurtherResource[] = Array.from({ length: FURTHER_RESOURCES }, (_, index) => {
  const name = `items_${index + 1}`;
  const entity = { [name]: class extends Product {} }[name] as Type<Product>;
  Entity(name)(entity);
  return { entity, endpoint: `/api/items-${index + 1}` };
});

/** A hand-written controller, as it would stand there for each of them; its first argument is the repository. */
export function controllersLike(controller: Type<object>, paramTypes: unknown[]): Type<object>[] {
  return furtherResources.map(({ entity, endpoint }) => {
    class Copy extends controller {}
    Reflect.defineMetadata('design:paramtypes', paramTypes, Copy);
    InjectRepository(entity)(Copy, undefined, 0);
    Controller(endpoint)(Copy);
    return Copy;
  });
}
