/** The option `enableQueryMethod` of a resource. */
import { METHODS } from 'node:http';
import { RequestMethod } from '@nestjs/common';
import { row } from '../options/option-table.js';

export interface QueryMethodOptions {
  /**
   * `QUERY {endpoint}` (RFC 10008) takes the query of the list in its body, as a form or as JSON, for queries that are too
   * long for a URL. What governs `GET {endpoint}` governs it too. Needs Nest 12.5, and Node 20.20 or 22.2.
   * @default false
   * @example enableQueryMethod: true, filterableFields: ['id', 'status']
   */
  enableQueryMethod?: boolean;
}

const isSupported = 'QUERY' in RequestMethod && METHODS.includes('QUERY');

/** The row of the option. */
export const QUERY_METHOD = row<boolean>(
  false,
  isSupported ? 'true or false' : 'false with this version of Nest or Node',
  (value) => value === false || (value === true && isSupported),
  isSupported ? 'set one of the two' : 'update to Nest 12.5, and to Node 20.20, 22.2 or later',
);
