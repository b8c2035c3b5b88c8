import type { AuditFigures, Core, MountCounts, QuotaFigures, WorkFigures } from '@strongroom/core';

/** What metrics are made of, asked for at each scrape. Nothing of it reads the store. */
export interface MetricSources {
  readonly sealed: () => boolean;
  /** Of the store; '' where it is not known. */
  readonly cluster: () => string;
  readonly quotas: () => QuotaFigures | undefined;
  readonly mounts: () => readonly MountCounts[];
  /** Connections to outside systems. */
  readonly pools: () => ReturnType<Core['poolFigures']>;
  readonly work: () => WorkFigures | undefined;
  readonly timings: () => ReturnType<Core['timings']> | undefined;
  /** For how long each enabled seal has failed its health checks. */
  readonly seals: () => readonly { readonly name: string; readonly seconds: number }[];
  /** What became of the spans of traces; undefined where there are none. */
  readonly spans: () => { readonly exported: number; readonly dropped: number; readonly waiting: number } | undefined;
  readonly audit: () => readonly AuditFigures[];
  /** Bytes of the store and of the disk that it is on, where the storage is a folder. */
  readonly room: () => { readonly used: number; readonly free: number } | undefined;
}

/** Of a server that has no core yet: for lists of what there is. */
export const NO_SOURCES: MetricSources = {
  sealed: () => true,
  cluster: () => '',
  quotas: () => undefined,
  mounts: () => [],
  pools: () => [],
  work: () => undefined,
  timings: () => undefined,
  seals: () => [],
  spans: () => undefined,
  audit: () => [],
  room: () => undefined,
};
