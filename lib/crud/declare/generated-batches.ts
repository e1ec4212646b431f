/** The methods of generated controllers for several records at once. */
import type { JsonObject } from '../../http/json-body.js';
import type { Envelope, ListQuery } from './envelope.js';

/** The batch operations of a generated controller. Two signatures let TypeScript accept any result of an override. */
export interface GeneratedBatches<T extends object> {
  /**
   * `POST {endpoint}/batch`, with `enableBatch`: stores new records in one transaction, all or none.
   *
   * @param body `items` has the bodies of the records
   * @param query `atomic=false` stores each record by itself: `data` is then an array of `BatchResult`
   * @returns the stored records, in the order of the items
   * @throws BadRequestException naming every wrong field, such as `items[3].price`
   * @example const { data } = await this.createMany({ items: [{ name: 'Lamp' }, { name: 'Chair' }] });
   */
  createMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;
  createMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `PATCH {endpoint}/batch`, with `enableBatch`: changes records in one transaction, all or none.
   *
   * @param body `items` has an object for each record: its `id`, and the fields to change
   * @param query `atomic=false` changes each record by itself: `data` is then an array of `BatchResult`
   * @returns the records after the update, in the order of the items
   * @throws BadRequestException naming every wrong field, such as `items[3].price`
   * @throws NotFoundException for an unknown id
   * @example const { data } = await this.patchMany({ items: [{ id: 1, stock: 5 }, { id: 2, stock: 0 }] });
   */
  patchMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;
  patchMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `DELETE {endpoint}/batch?ids=1,2`, with `enableBatch`: removes or hides records in one transaction, all or none.
   *
   * @param query `ids`; `atomic=false` removes each record by itself: `data` is then an array of `BatchResult`
   * @returns `data: null`
   * @throws NotFoundException for an unknown id
   * @example await this.deleteMany({ ids: '1,2' });
   */
  deleteMany<R = Envelope<null>>(query: ListQuery): Promise<NoInfer<R>>;
  deleteMany<R = Envelope<null>>(query: ListQuery): Promise<NoInfer<R>>;
}
