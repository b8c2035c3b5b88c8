import type { MetricFamilySnapshot } from '../metrics/merged-metrics.ts';

/** What a worker that listens says about itself. */
export interface Listening {
  readonly addresses: readonly string[];
  readonly sealed: boolean;
  readonly initialized: boolean;
  /** Whether a seal opens it by itself. */
  readonly automatic: boolean;
}

/** What a worker tells the supervisor. An `id` is the worker's own. */
export type FromWorker =
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly message: unknown; readonly within: number }
  /** `id`: the supervisor's. Without a value, the worker has no answer. */
  | { readonly kind: 'answer'; readonly id: number; readonly value?: { readonly of: unknown } }
  | { readonly kind: 'turn'; readonly id: number; readonly name: string }
  | { readonly kind: 'turn over'; readonly id: number }
  | { readonly kind: 'listening'; readonly listening: Listening }
  | { readonly kind: 'failed'; readonly reason: string }
  /** For the log of the supervisor. */
  | {
      readonly kind: 'said';
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>> | undefined;
    }
  /** Once a second: its event loop turns. `counts`, every few seconds: what it has counted. */
  | { readonly kind: 'beat'; readonly counts?: readonly MetricFamilySnapshot[] };

/** What the supervisor tells a worker. */
export type ToWorker =
  | { readonly kind: 'asked'; readonly id: number; readonly topic: string; readonly message: unknown }
  | { readonly kind: 'answers'; readonly id: number; readonly values: readonly unknown[] }
  | { readonly kind: 'your turn'; readonly id: number }
  /** The numbers of the workers that listen, in their order. */
  | { readonly kind: 'running'; readonly workers: readonly number[] }
  | { readonly kind: 'reload' }
  | { readonly kind: 'stop'; readonly reason: string };

/** One end of the channel between the supervisor and a worker. What was sent over a channel that has ended is lost. */
export interface Channel<Sent, Heard> {
  send(message: Sent): void;
  /** At most one function hears. */
  hear(heard: (message: Heard) => void): void;
}
