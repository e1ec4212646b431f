import 'reflect-metadata';
import {
  ClassSerializerInterceptor,
  Catch,
  HttpException,
  ValidationPipe,
  VersioningType,
  type ArgumentsHost,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common';
import { HttpAdapterHost, NestFactory, Reflector } from '@nestjs/core';
import { furnished } from './environment.js';
import { mistaken } from './mistakes.js';
import { createAdapter } from './platform.js';
import { ShopModule } from './shop.js';

@Catch()
class OwnFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { problem: status }, status);
  }
}

function furnish(app: INestApplication): void {
  app.setGlobalPrefix('srv');
  app.enableVersioning({ type: VersioningType.URI });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
  app.useGlobalFilters(new OwnFilter(app.get(HttpAdapterHost)));
}

async function main(): Promise<void> {
  const mistake = process.env['MISTAKE'];
  const module = mistake === undefined ? ShopModule : mistaken(mistake);
  const app = await NestFactory.create(module, createAdapter(), { abortOnError: false });
  if (furnished) furnish(app);
  await app.listen(0, '127.0.0.1');
  console.log(`listening at ${await app.getUrl()}`);
}

main().catch((error: unknown) => {
  console.error(`refused: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
