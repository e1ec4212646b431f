import { cors, InvalidOptionError } from 'declarest';
import { shopError } from '../harness/shop.js';
import { PLATFORMS } from '../harness/platforms.js';

/** As JavaScript and `as never` allow it. */
const declare = (...origin: unknown[]) => cors(...(origin as []));

function refusal(...origin: unknown[]): InvalidOptionError {
  try {
    declare(...origin);
  } catch (error) {
    return error as InvalidOptionError;
  }
  throw new Error('cors() was expected to refuse this.');
}

describe('the allowed origin', () => {
  it.each([
    'https://shop.example',
    'http://shop.example',
    'https://shop.example:8443',
    'http://localhost:5173',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
    'https://xn--bcher-kva.example',
    'https://a.b.c.shop.example',
    'capacitor://localhost',
  ])('[5] may be %s', (origin) => {
    expect(declare(origin)).toBeInstanceOf(Function);
  });

  it('[5] may be left out; only then every origin is allowed', () => {
    expect(declare()).toBeInstanceOf(Function);
  });

  it.each([
    ['undefined, as a missing environment variable is', undefined],
    ['null', null],
    ['the text null, which is the origin of every sandboxed page', 'null'],
    ['an empty text', ''],
    ['a blank', ' '],
    ['a number', 3000],
    ['true', true],
    ['false', false],
    ['an object', { origin: 'https://shop.example' }],
    ['an array', ['https://shop.example']],
    ['a function', () => 'https://shop.example'],
    ['a regular expression', /shop/],
    ['a URL', new URL('https://shop.example')],
    ['everything', '*'],
    ['a wildcard inside', 'https://*.shop.example'],
    ['a wildcard as the port', 'https://shop.example:*'],
    ['a trailing slash', 'https://shop.example/'],
    ['a path', 'https://shop.example/front'],
    ['a query', 'https://shop.example?a=1'],
    ['a bare question mark', 'https://shop.example?'],
    ['a fragment', 'https://shop.example#top'],
    ['no scheme', 'shop.example'],
    ['no scheme, with a port', 'shop.example:8080'],
    ['two slashes instead of a scheme', '//shop.example'],
    ['no host', 'https://'],
    ['a single slash', 'https:/shop.example'],
    ['a backslash', 'https:\\\\shop.example'],
    ['upper case in the host', 'https://Shop.example'],
    ['upper case in the scheme', 'HTTPS://shop.example'],
    ['the default port of https', 'https://shop.example:443'],
    ['the default port of http', 'http://shop.example:80'],
    ['an empty port', 'https://shop.example:'],
    ['a port with a leading zero', 'https://shop.example:08443'],
    ['a port that is too large', 'https://shop.example:99999'],
    ['a user', 'https://ann@shop.example'],
    ['a user and a password', 'https://ann:secret@shop.example'],
    ['letters that a browser sends as punycode', 'https://bücher.example'],
    ['an address that a browser writes otherwise', 'http://127.1'],
    ['two origins', 'https://shop.example, https://other.example'],
    ['two origins with a blank', 'https://shop.example https://other.example'],
    ['a leading blank', ' https://shop.example'],
    ['a trailing blank', 'https://shop.example '],
    ['a trailing line end', 'https://shop.example\n'],
    ['a second header', 'https://shop.example\r\nSet-Cookie: a=b'],
    ['a file', 'file:///srv/shop'],
    ['data', 'data:text/html,shop'],
  ])('[5] refuses %s when declared, in one sentence', (_, origin) => {
    const error = refusal(origin);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.name).toBe('InvalidOptionError');
    expect(error.message).toMatch(/^cors\(allowedOrigin\): expected an origin .*, got .+; .+\.$/);
    expect(error.message).not.toMatch(/[\r\n]/);
  });

  it.each([
    ['https://shop.example/', 'https://shop.example'],
    ['https://shop.example/front', 'https://shop.example'],
    ['https://Shop.example', 'https://shop.example'],
    ['https://shop.example:443', 'https://shop.example'],
    ['HTTP://SHOP.example:80/a?b#c', 'http://shop.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('[5] says how to write %s', (origin, right) => {
    expect(refusal(origin).message).toContain(`"${right}"`);
  });

  it('[5] says that a missing environment variable does not open it to everybody', () => {
    expect(refusal(undefined).message).toMatch(/got undefined; .*environment variable/);
  });

  it.each([
    'https://ann:hunter2secret@shop.example',
    'https:ann:hunter2secret@shop.example',
    '//ann:hunter2secret@shop.example',
    'ann:hunter2secret@shop.example',
  ])('[1] [5] never prints a password that stands in it: %s', (origin) => {
    expect(refusal(origin).message).not.toContain('hunter2secret');
  });
});

it.each(PLATFORMS)('[5] a bad origin refuses to boot on %s', async (platform) => {
  const error = await shopError(platform, { origin: 'https://shop.example/' });
  expect([error.name, error.message]).toEqual([
    'InvalidOptionError',
    expect.stringMatching(/^cors\(allowedOrigin\): expected .+, got "https:\/\/shop\.example\/"; .+\.$/),
  ]);
});
