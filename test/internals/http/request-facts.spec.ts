import type { IncomingMessage } from 'node:http';
import {
  headerValues,
  pathOf,
  queryOf,
  targetOf,
  templateOf,
  type HttpRequest,
} from '../../../lib/http/http-request.js';

const request = (parts: Partial<HttpRequest>): HttpRequest => ({ method: 'GET', headers: {}, ...parts });
const raw = (parts: Partial<IncomingMessage>): IncomingMessage => parts as IncomingMessage;

describe('the target of a request', () => {
  it.each<[string, Partial<HttpRequest>, string]>([
    ['Express', { originalUrl: '/api/a?b', url: '/a?b' }, '/api/a?b'],
    ['Fastify', { raw: raw({ url: '/api/a?b' }), url: '/rewritten' }, '/api/a?b'],
    ['node', { url: '/api/a' }, '/api/a'],
    ['nothing', {}, '/'],
  ])('[3.5] is what was sent: %s', (_, parts, target) => {
    expect(targetOf(request(parts))).toBe(target);
  });

  it.each([
    ['/api/a', '/api/a', ''],
    ['/api/a?b=1&c', '/api/a', 'b=1&c'],
    ['/api/a?b?c', '/api/a', 'b?c'],
    ['/api/a?', '/api/a', ''],
    ['/api/a#top', '/api/a', ''],
    ['/api/%61?x', '/api/%61', 'x'],
    ['//api//a', '//api//a', ''],
    ['/', '/', ''],
    ['?a=1', '/', 'a=1'],
    ['', '/', ''],
    ['http://shop.example/api/a?b=1', '/api/a', 'b=1'],
    ['HTTPS://SHOP.EXAMPLE:8443/api/a', '/api/a', ''],
    ['http://shop.example', '/', ''],
    ['http://shop.example?a=1', '/', 'a=1'],
    ['http://ann@shop.example/a', '/a', ''],
    ['http://shop.example//api', '//api', ''],
    ['/api/http://other.example/a', '/api/http://other.example/a', ''],
    ['*', '*', ''],
  ])('[3.5] %s has a path and a query', (originalUrl, path, query) => {
    expect([pathOf(request({ originalUrl })), queryOf(request({ originalUrl }))]).toEqual([path, query]);
  });
});

describe('the template of a request', () => {
  it.each<[string, Partial<HttpRequest>, string | undefined]>([
    ['Express', { route: { path: '/api/:id' } }, '/api/:id'],
    ['Fastify', { routeOptions: { url: '/api/:id' } }, '/api/:id'],
    ['no route', {}, undefined],
    ['a regular expression', { route: { path: /x/ } }, undefined],
    ['Fastify without one', { routeOptions: { url: undefined } }, undefined],
  ])('[3.5] of %s', (_, parts, template) => {
    expect(templateOf(request(parts))).toBe(template);
  });
});

describe('the values of a header', () => {
  it.each<[string, Partial<HttpRequest>, string[]]>([
    [
      'are every one that was sent',
      { headers: { authorization: 'a' }, rawHeaders: ['Host', 'x', 'Authorization', 'a', 'AUTHORIZATION', 'b'] },
      ['a', 'b'],
    ],
    ['of Fastify', { raw: raw({ rawHeaders: ['authorization', 'a'] }), headers: { authorization: 'a' } }, ['a']],
    ['are not taken from another header’s value', { rawHeaders: ['X-Note', 'authorization', 'Host', 'h'] }, []],
    ['are none where there is none', { rawHeaders: ['Host', 'x'] }, []],
    ['are those of a request made without a socket', { headers: { authorization: 'a' } }, ['a']],
  ])('[2.5] %s', (_, parts, values) => {
    expect(headerValues(request(parts), 'authorization')).toEqual(values);
  });
});
