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
    'https://shop.example:8443',
    'http://localhost:5173',
    'http://[::1]:3000',
    'https://xn--bcher-kva.example',
    'capacitor://localhost',
  ])('[5] may be %s', (origin) => {
    expect(declare(origin)).toBeInstanceOf(Function);
  });

  it('[5] may be left out', () => {
    expect(declare()).toBeInstanceOf(Function);
  });

  it.each([
    ['undefined, such as a missing environment variable', undefined],
    ['null', null],
    ['the text null', 'null'],
    ['a number', 3000],
    ['an array', ['https://shop.example']],
    ['a URL', new URL('https://shop.example')],
    ['everything', '*'],
    ['a wildcard inside', 'https://*.shop.example'],
    ['a trailing slash', 'https://shop.example/'],
    ['a path', 'https://shop.example/front'],
    ['a fragment', 'https://shop.example#top'],
    ['no scheme', 'shop.example'],
    ['upper case in the host', 'https://Shop.example'],
    ['the default port of https', 'https://shop.example:443'],
    ['a user and a password', 'https://ann:secret@shop.example'],
    ['letters that a browser sends as punycode', 'https://bücher.example'],
    ['two origins', 'https://shop.example, https://other.example'],
    ['a trailing line end', 'https://shop.example\n'],
    ['a second header', 'https://shop.example\r\nSet-Cookie: a=b'],
    ['a file', 'file:///srv/shop'],
  ])('[5] refuses %s when declared', (_, origin) => {
    const error = refusal(origin);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.name).toBe('InvalidOptionError');
    expect(error.message).toMatch(/^The argument of cors\(\) must be an origin .*, got .+\. .+\.$/);
    expect(error.message).not.toMatch(/[\r\n]/);
  });

  it.each([
    ['https://shop.example/', 'https://shop.example'],
    ['https://shop.example/front', 'https://shop.example'],
    ['https://Shop.example', 'https://shop.example'],
    ['https://shop.example:443', 'https://shop.example'],
    ['HTTP://SHOP.example:80/a?b#c', 'http://shop.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('[5] the message has the right spelling of %s', (origin, right) => {
    expect(refusal(origin).message).toContain(`"${right}"`);
  });

  it('[5] a missing environment variable does not allow every origin', () => {
    expect(refusal(undefined).message).toMatch(/got undefined\. .*environment variable/);
  });

  it.each([
    'https://ann:hunter2secret@shop.example',
    'https:ann:hunter2secret@shop.example',
    '//ann:hunter2secret@shop.example',
    'ann:hunter2secret@shop.example',
  ])('[1] [5] the message contains no password: %s', (origin) => {
    expect(refusal(origin).message).not.toContain('hunter2secret');
  });
});

it.each(PLATFORMS)('[5] a wrong origin refuses to start on %s', async (platform) => {
  const error = await shopError(platform, { origin: 'https://shop.example/' });
  expect([error.name, error.message]).toEqual([
    'InvalidOptionError',
    expect.stringMatching(/^The argument of cors\(\) must be .+, got "https:\/\/shop\.example\/"\. .+\.$/),
  ]);
});
