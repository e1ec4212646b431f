import {
  HttpClient,
  type HttpInterceptorFn,
  provideHttpClient,
  withFetch,
  withInterceptors,
} from '@angular/common/http';
import { inject, Injectable } from '@angular/core';
import { from, map, switchMap } from 'rxjs';
import { type Product, type ProductPatch, shop } from './shop.js';

export interface One {
  readonly data: Product;
}

export interface Page {
  readonly data: readonly Product[];
  readonly metadata: { readonly pagination: { readonly total: number } };
}

/** Sends the token of the user, which `token()` refreshes, to this server only. */
export const sendToken: HttpInterceptorFn = (request, next) =>
  request.url.startsWith(`${shop.url}/`)
    ? from(shop.token()).pipe(
        map((token) => (token === undefined ? {} : { setHeaders: { Authorization: `Bearer ${token}` } })),
        switchMap((headers) => next(request.clone(headers))),
      )
    : next(request);

/** For `providers` of the application. */
export const http = provideHttpClient(withFetch(), withInterceptors([sendToken]));

@Injectable({ providedIn: 'root' })
export class Products {
  private readonly http = inject(HttpClient);

  list(page: number) {
    return this.http.get<Page>(`${shop.url}/products`, { params: { page, size: 3, sort: 'name' } });
  }

  /** With the ETag of the version, for `save`. */
  find(id: number) {
    return this.http
      .get<One>(`${shop.url}/products/${id}`, { observe: 'response' })
      .pipe(map(({ body, headers }) => ({ product: body!.data, etag: headers.get('ETag') ?? '*' })));
  }

  /** A change by somebody else since is a failure with the status 412. */
  save(id: number, etag: string, changes: ProductPatch) {
    const headers = { 'If-Match': etag };
    return this.http.patch<One>(`${shop.url}/products/${id}`, changes, { headers }).pipe(map(({ data }) => data));
  }
}
