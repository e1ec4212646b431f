/** Further resources for the runs with many of them, each with its own entity, table and controller. */
import { Controller, type Type } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Entity } from 'typeorm';
import { RESOURCES } from '../settings.js';
import { Product } from './product.entity.js';

export interface FurtherResource {
  readonly entity: Type<Product>;
  readonly endpoint: string;
}

export const furtherResources: readonly FurtherResource[] = Array.from({ length: RESOURCES - 1 }, (_, index) => {
  const name = `items_${index + 1}`;
  const entity = { [name]: class extends Product {} }[name] as Type<Product>;
  Entity(name)(entity);
  return { entity, endpoint: `/api/items-${index + 1}` };
});

/** A copy of a hand-written controller for each further resource; the first constructor argument is the repository. */
export function controllersLike(controller: Type<object>, paramTypes: unknown[]): Type<object>[] {
  return furtherResources.map(({ entity, endpoint }) => {
    class Copy extends controller {}
    Reflect.defineMetadata('design:paramtypes', paramTypes, Copy);
    InjectRepository(entity)(Copy, undefined, 0);
    Controller(endpoint)(Copy);
    return Copy;
  });
}
