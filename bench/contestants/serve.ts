/** Starts a contestant as it is deployed, with what most applications have around their handlers. */
import {
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  ValidationPipe,
} from '@nestjs/common';
import helmet from 'helmet';
import morgan from 'morgan';
import { type Observable, tap } from 'rxjs';

/** The benchmark reads these counts to check that no request passes the access log or the interceptor. */
const counts = { logged: 0, timed: 0 };
let handlerMilliseconds = 0;

class TimingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const start = performance.now();
    return next.handle().pipe(
      tap(() => {
        handlerMilliseconds += performance.now() - start;
        counts.timed += 1;
      }),
    );
  }
}

/** morgan writes a line when the response is finished. */
const accessLog = morgan('combined', {
  stream: {
    write(line: string): void {
      counts.logged += 1;
      process.stdout.write(line);
    },
  },
});

/** @param validates whether a global pipe validates; a package that brings its own would validate twice */
export async function serve(app: INestApplication, validates = true): Promise<void> {
  app.use(helmet());
  app.use(accessLog);
  if (validates) app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
  app.useGlobalInterceptors(new TimingInterceptor());
  await app.listen(0, '127.0.0.1');
  reportPort((app.getHttpServer().address() as { port: number }).port);
}

/** Started by hand, a contestant prints its address; started by the benchmark, it also answers each message with its counts. */
export function reportPort(port: number): void {
  if (!process.send) return console.log(`http://127.0.0.1:${port}`);
  process.on('message', () => process.send?.({ ...counts, handlerMilliseconds }));
  process.send({ port });
}
