/** Starts proxies of this machine, with the settings that docs/tasks/cors-and-proxies.md shows. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from '../child-process.js';
import { PROXIES, type ProxyName } from '../harness/proxies.js';

/** A port of a proxy, and the application behind it: at `/`, or below `/shop/`, which the proxy removes. */
interface Listener {
  readonly port: number;
  readonly application: number;
  readonly prefix: '/' | '/shop/';
}

interface Program {
  readonly args: (folder: string) => readonly string[];
  readonly config: (listeners: readonly Listener[], folder: string) => string;
}

const perListener = (listeners: readonly Listener[], text: (listener: Listener) => string): string =>
  listeners.map(text).join('\n');

const isRoot = process.getuid?.() === 0;

const PROGRAMS: Readonly<Record<ProxyName, Program>> = {
  nginx: {
    args: (folder) => ['-p', folder, '-e', 'stderr', '-c', 'config'],
    config: (listeners) => `
daemon off;
master_process off;
pid pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  map $request_uri $path_below_shop {
    ~^/shop(?<below>/.*)$ $below;
  }
${perListener(
  listeners,
  ({ port, application, prefix }) => `
  server {
    listen 127.0.0.1:${port};
    gzip on;
    gzip_types application/json application/x-ndjson text/csv;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
${
  prefix === '/'
    ? `
    location / {
      proxy_pass http://127.0.0.1:${application};
    }`
    : `
    location /shop/ {
      proxy_pass http://127.0.0.1:${application}$path_below_shop;
      proxy_redirect / /shop/;
      absolute_redirect off;
    }`
}
  }`,
)}
}`,
  },
  Apache: {
    args: (folder) => ['-X', '-d', folder, '-f', 'config'],
    config: (listeners, folder) => `
${['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'filter', 'deflate', 'headers']
  .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
ServerName localhost
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/log
LogLevel crit
${isRoot ? 'User nobody\nGroup nogroup' : ''}
${perListener(
  listeners,
  ({ port, application, prefix }) => `
Listen 127.0.0.1:${port}
<VirtualHost 127.0.0.1:${port}>
  AddOutputFilterByType DEFLATE application/json application/x-ndjson text/csv
  AllowEncodedSlashes NoDecode
  ProxyPreserveHost On
  ProxyPass ${prefix} http://127.0.0.1:${application}/ nocanon
  ${prefix === '/' ? '' : 'Header edit Location ^/ /shop/'}
</VirtualHost>`,
)}`,
  },
  Caddy: {
    args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'config')],
    config: (listeners) => `
{
  admin off
  auto_https off
  log {
    level FATAL
  }
}
${perListener(
  listeners,
  ({ port, application, prefix }) => `
http://127.0.0.1:${port} {
  encode zstd gzip
  ${
    prefix === '/'
      ? `reverse_proxy 127.0.0.1:${application}`
      : `handle_path /shop/* {
    reverse_proxy 127.0.0.1:${application} {
      header_down Location ^/ /shop/
    }
  }`
  }
}`,
)}`,
  },
  HAProxy: {
    args: (folder) => ['-db', '-q', '-f', join(folder, 'config')],
    config: (listeners) => `
defaults
  mode http
  option forwardfor
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  compression algo gzip
  compression type application/json application/x-ndjson text/csv
${perListener(
  listeners,
  ({ port, application, prefix }) => `
listen at_${port}
  bind 127.0.0.1:${port}
  ${
    prefix === '/'
      ? ''
      : `http-request replace-path ^/shop(/.*) \\1
  http-response replace-header Location ^/(.*) /shop/\\1`
  }
  server app 127.0.0.1:${application}`,
)}
`,
  },
};

export interface RunningProxy {
  /** The URL below which the application is reached. */
  readonly urlOf: (application: number, prefix?: Listener['prefix']) => string;
  readonly close: () => Promise<void>;
}

/** The configuration that docs/tasks/cors-and-proxies.md shows parts of. */
export const shownConfig = (name: ProxyName): string =>
  PROGRAMS[name].config(
    (['/', '/shop/'] as const).map((prefix) => ({ port: 8080, application: 3000, prefix })),
    '/tmp',
  );

/** Starts a proxy in front of applications, by their ports. */
export async function startProxy(name: ProxyName, applications: readonly number[]): Promise<RunningProxy> {
  const { command } = PROXIES.find((each) => each.name === name)!;
  const { args, config } = PROGRAMS[name];
  const listeners: Listener[] = [];
  for (const application of applications)
    for (const prefix of ['/', '/shop/'] as const) listeners.push({ port: await freePort(), application, prefix });
  const folder = mkdtempSync(join(tmpdir(), 'declarest-proxy-'));
  // Apache as root reads it as another user.
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'config'), config(listeners, folder));
  const child = startChild(command, args(folder), { cwd: folder, env: { HOME: folder, XDG_DATA_HOME: folder } });
  const failed = child.ended.then(({ stdout, stderr }) => {
    throw new Error(`${name} has ended: ${stdout}${stderr}`);
  });
  const close = async (): Promise<void> => {
    child.signal('SIGTERM');
    await child.ended;
    rmSync(folder, { recursive: true, force: true });
  };
  await Promise.race([failed, Promise.all(listeners.map(({ port }) => untilOpen(port)))]);
  failed.catch(() => undefined);
  return {
    urlOf: (application, prefix = '/') => {
      const listener = listeners.find((each) => each.application === application && each.prefix === prefix)!;
      return `http://127.0.0.1:${listener.port}${prefix}`.replace(/\/$/, '');
    },
    close,
  };
}

/** A port at which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function untilOpen(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await wait(50);
  }
  throw new Error(`Nothing listens at port ${port}.`);
}
