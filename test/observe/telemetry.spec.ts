/** Spans and durations of operations, with the SDK of OpenTelemetry. */
import { Controller, Get, HttpException } from '@nestjs/common';
import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { CrudController } from 'declarest';
import { TelemetryModule } from 'declarest/observe';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  text!: string;
}

const BROKEN = new Error('unexpected');

class NotesController extends CrudController({
  entity: Note,
  endpoint: '/api/notes',
  maxListSize: 9,
  enableExport: true,
}) {
  override beforeCreate({ text }: { text?: string }): void {
    trace.getTracer('test').startSpan('inner').end();
    if (text === 'broken') throw BROKEN;
  }
}

@Controller('own')
class OwnController {
  @Get()
  refuse(): never {
    throw new HttpException('Gone', 410);
  }
}

const spans = new InMemorySpanExporter();
const exported = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 3_600_000 });
const meters = new MeterProvider({ readers: [reader] });

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  metrics.setGlobalMeterProvider(meters);
});

// Test files of a worker share its process.
afterAll(async () => {
  for (const api of [trace, context, metrics]) api.disable();
  await meters.shutdown();
});

/** The spans in the order of their ends, once there are so many: they end behind the answer. */
async function finishedSpans(count: number) {
  await vi.waitUntil(() => spans.getFinishedSpans().length >= count);
  return spans.getFinishedSpans();
}

/** `[operation, status]` of what was measured since the last call. */
async function measured(): Promise<unknown[]> {
  await meters.forceFlush();
  const [histogram] = exported.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics));
  exported.reset();
  return (histogram as HistogramMetricData).dataPoints.map(({ attributes, value }) => {
    expect([value.count, value.sum !== undefined && value.sum < 60]).toEqual([1, true]);
    return [attributes['declarest.operation'], attributes['http.response.status_code']];
  });
}

describe.each(PLATFORMS)('the telemetry of operations on %s', (platform) => {
  let service: CrudService;
  beforeEach(async () => {
    const imports = [TelemetryModule];
    service = await startCrud(platform, {
      resources: [NotesController],
      entities: [Note],
      controllers: [OwnController],
      imports,
    });
    spans.reset();
  });
  afterEach(() => service.close());

  it('has a span and a duration for each, which end with the answer', async () => {
    await service.post('/api/notes', { text: 'a' });
    await service.get('/api/notes/7');
    await service.get('/api/notes/export?format=csv');
    await service.get('/own');
    const operations = [
      ['NotesController.create', 201],
      ['NotesController.findById', 404],
      ['NotesController.export', 200],
      ['OwnController.refuse', 410],
    ];
    const outer = (await finishedSpans(5)).filter(({ name }) => name !== 'inner');
    expect(outer.map(({ name, attributes }) => [name, attributes['http.response.status_code']])).toEqual(operations);
    expect(outer.map(({ status }) => status.code)).toEqual(operations.map(() => SpanStatusCode.UNSET));
    expect(await measured()).toEqual(operations);
  });

  it('is the parent of what the code of the operation starts', async () => {
    await service.post('/api/notes', { text: 'a' });
    const [inner, outer] = await finishedSpans(2);
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  });

  it('has the error of an operation that failed unexpectedly', async () => {
    await service.post('/api/notes', { text: 'broken' });
    const span = (await finishedSpans(2)).at(-1);
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
    expect(span?.events).toEqual([expect.objectContaining({ name: 'exception' })]);
    await measured();
  });
});
