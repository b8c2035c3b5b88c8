import {
  compileDecoder,
  silentLog,
  type AnyPath,
  type Engine,
  type EngineHost,
  type EngineRequest,
  type EngineResponse,
  type Operation,
} from '@strongroom/engine-sdk';
import { manualClock, type ManualClock, MemoryView } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

type Data = Readonly<Record<string, unknown>>;

/** The engine alone over a view in memory: for what the store sees, and for what happens when it fails. */
export interface EngineFixture {
  readonly engine: Engine;
  readonly view: MemoryView;
  readonly clock: ManualClock;
  readonly options: Record<string, string>;
  call(operation: Exclude<Operation, 'create'>, path: string, data?: Data): Promise<EngineResponse | undefined>;
}

export function engineFixture(version: '1' | '2', view = new MemoryView(), clock = manualClock()): EngineFixture {
  const options: Record<string, string> = { version };
  const host = {
    mount: { options, defaultLeaseTtl: 2_764_800 },
    storage: view,
    clock,
    log: silentLog,
  } as unknown as EngineHost;
  const engine = kvEngine.create(host);
  return {
    engine,
    view,
    clock,
    options,
    call: async (operation, at, raw = {}) => {
      const { path, captures } = match(engine.paths, at);
      const op = path.operations[operation];
      if (!op) throw new Error(`${at} has no ${operation}`);
      const { data, supplied } = compileDecoder(path.about.fields as Parameters<typeof compileDecoder>[0])(raw, captures);
      return op.handle({ operation, path: at, data, supplied, raw, storage: view } as unknown as EngineRequest);
    },
  };
}

export async function openFixture(version: '1' | '2', view?: MemoryView): Promise<EngineFixture> {
  const fixture = engineFixture(version, view);
  await fixture.engine.initialize?.();
  return fixture;
}

function match(paths: readonly AnyPath[], at: string): { path: AnyPath; captures: Record<string, string> } {
  for (const path of paths) {
    const start = path.pattern.replace('{path:all}', '');
    if (path.pattern === at) return { path, captures: {} };
    if (path.pattern !== start && at.startsWith(start)) return { path, captures: { path: at.slice(start.length) } };
  }
  throw new Error(`no path for ${at}`);
}
