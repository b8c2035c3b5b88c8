import { Session, type HeapProfiler } from 'node:inspector/promises';

/** What a function has allocated, by itself. */
export interface Allocator {
  /** Its name, and the file and line where it is: `lookup packages/core/dist/….js:12`. */
  readonly name: string;
  readonly bytes: number;
}

/** Bytes between two samples, on average: small enough for what one request allocates. */
const INTERVAL = 4_096;

/** Samples what this process allocates, with what the garbage collector takes back meanwhile. */
export class HeapSampler {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('HeapProfiler.startSampling', {
      samplingInterval: INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    } as HeapProfiler.StartSamplingParameterType);
  }

  /** Resolves with the functions that allocated since the start, the largest first. */
  async stop(): Promise<readonly Allocator[]> {
    const { profile } = await this.#session.post('HeapProfiler.stopSampling');
    this.#session.disconnect();
    const bytes = new Map<string, number>();
    const add = ({ callFrame: { functionName, url, lineNumber }, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): void => {
      const file = url.replace(/^.*\/(?=packages\/|node_modules\/)/, '').replace(/^.*node_modules\//, '');
      const name = `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`;
      if (selfSize > 0) bytes.set(name, (bytes.get(name) ?? 0) + selfSize);
      children.forEach(add);
    };
    add(profile.head);
    return [...bytes].map(([name, size]) => ({ name, bytes: size })).sort((a, b) => b.bytes - a.bytes);
  }
}
