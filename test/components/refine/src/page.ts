import type { ReactElement } from 'react';

/** The elements of the routes of a page. */
export interface RefinePage {
  readonly list?: ReactElement;
  readonly create?: ReactElement;
  readonly edit?: ReactElement;
  readonly show?: ReactElement;
}
