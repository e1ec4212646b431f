import { parseCommand, usageOf } from '../../lib/cli/arguments.js';

const access = {
  name: 'access',
  module: 'app.js',
  platform: undefined,
  format: 'table',
  check: undefined,
  update: false,
};

it.each<[typed: string, command: object]>([
  // The table, aligned, unless another form is asked for.
  ['access app.js', access],
  ['access app.js --json', { ...access, format: 'json' }],
  ['access --markdown app.js', { ...access, format: 'markdown' }],
  // A snapshot to compare with, or to write.
  ['access app.js --check access.json', { ...access, check: 'access.json' }],
  ['access app.js --check=access.json --update', { ...access, check: 'access.json', update: true }],
  // A file whose name begins with a dash can still be named.
  ['access app.js --check=-.json', { ...access, check: '-.json' }],
  ['access -- -app.js', { ...access, module: '-app.js' }],
  ['access app.js --platform fastify', { ...access, platform: 'fastify' }],
])('`declarest %s` is understood', (typed, command) => {
  expect(parseCommand(typed.split(' '))).toEqual(command);
});

it.each(['--help', '-h', 'help', 'access --help', 'access -h', 'access app.js --help', 'access --nonsense --help'])(
  '`declarest %s` is a question, and never a mistake',
  (typed) => {
    expect(parseCommand(typed.split(' '))).toMatchObject({
      name: 'help',
      text: expect.stringMatching(/^Usage: declarest /),
    });
  },
);

// Each option stands in the help, and in the usage line as far as it does something.
it('the help of access names every option', () => {
  const command = parseCommand(['access', '--help']);
  for (const option of ['--json', '--markdown', '--check <file>', '--update', '--platform <name>', '--help'])
    expect(command).toMatchObject({ text: expect.stringContaining(`\n  ${option} `) });
});

it.each<[typed: string, sentence: string]>([
  ['', 'No command is given.'],
  ['acess app.js', 'There is no command "acess".'],
  // The names that every object of JavaScript has are no commands.
  ['constructor', 'There is no command "constructor".'],
  ['--json access', 'There is no command "--json".'],
  ['access', 'The compiled app module is missing.'],
  ['access --json', 'The compiled app module is missing.'],
  ['access a.js b.js', 'One app module is expected, got 2.'],
  ['access app.js --jsn', 'There is no option --jsn.'],
  ['access app.js -j', 'There is no option -j.'],
  ['access app.js --toString', 'There is no option --toString.'],
  ['access app.js --no-json', 'There is no option --no-json.'],
  ['access app.js --json=yes', '--json takes no value.'],
  ['access app.js --check', '--check needs a value.'],
  ['access app.js --check=', '--check needs a value.'],
  // `--update` is no name of a file.
  ['access app.js --check --update', '--check needs a value.'],
  ['access app.js --update', '--update is expected together with --check <file>, which it writes.'],
  ['access app.js --json --markdown', 'Either --json or --markdown is expected, got both.'],
  ['access app.js --check a.json --json', '--check prints what changed, not a table: take --json away.'],
  ['access app.js --platform koa', '--platform: expected express or fastify, got "koa".'],
])('`declarest %s` is refused in one sentence', (typed, sentence) => {
  expect(() => parseCommand(typed === '' ? [] : typed.split(' '))).toThrow(
    expect.objectContaining({ name: 'CommandError', message: sentence }),
  );
});

// Below a refusal stands the usage of the command that was meant.
it.each([
  [['access', '--nonsense'], /^Usage: declarest access <compiled app module> .*$/],
  [['nonsense'], /^Usage: declarest <command> .*$/],
  [['constructor'], /^Usage: declarest <command> .*$/],
  [[], /^Usage: declarest <command> .*$/],
])('the usage line for %p', (args, line) => {
  expect(usageOf(args)).toMatch(line);
});
