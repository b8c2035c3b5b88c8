import { fileURLToPath } from 'node:url';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** What every answer begins with. Numbers of 64 bits are decimal text. */
export interface Header {
  readonly cluster_id: string;
  readonly member_id: string;
  /** Of the store, when the call was carried out. */
  readonly revision: string;
}

export interface KeyValue {
  readonly key: Buffer;
  readonly mod_revision: string;
  /** Absent where it is empty or was not asked for. */
  readonly value?: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  /** Exclusive. Absent: only `key`. */
  readonly range_end?: Buffer;
  readonly limit?: number;
  /** The state of the store at that revision. Absent: the newest. */
  readonly revision?: number;
  readonly sort_order?: 'DESCEND';
  readonly keys_only?: boolean;
  readonly count_only?: boolean;
}

export interface RangeResponse {
  readonly kvs: readonly KeyValue[];
  readonly more?: boolean;
  readonly count?: string;
}

export interface Op {
  readonly request_range?: RangeRequest;
  readonly request_put?: { readonly key: Buffer; readonly value?: Uint8Array };
  readonly request_delete_range?: { readonly key: Buffer; readonly range_end?: Buffer };
  readonly request_txn?: TxnRequest;
}

export interface OpResponse {
  readonly response_range?: RangeResponse;
  readonly response_delete_range?: { readonly deleted?: string };
  readonly response_txn?: Omit<TxnResponse, 'header'>;
}

/** A key at a revision; 0 where it must be absent. */
export interface Compare {
  readonly result: 'EQUAL';
  readonly target: 'MOD';
  readonly key: Buffer;
  readonly mod_revision: number;
}

export interface TxnRequest {
  readonly compare?: readonly Compare[];
  readonly success?: readonly Op[];
  readonly failure?: readonly Op[];
}

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded?: boolean;
  readonly responses: readonly OpResponse[];
}

export interface WatchRequest {
  readonly create_request: {
    readonly key: Buffer;
    readonly range_end: Buffer;
    readonly start_revision: number;
    readonly filters: readonly 'NODELETE'[];
  };
}

export interface WatchResponse {
  readonly header: Header;
  readonly created?: boolean;
  readonly canceled?: boolean;
  /** Set where the watch began at a revision that was compacted. */
  readonly compact_revision?: string;
  readonly cancel_reason?: string;
  readonly events: readonly { readonly kv: KeyValue }[];
}

export interface StatusResponse {
  readonly header: Header;
  readonly version: string;
  /** Bytes of the file. */
  readonly dbSize?: string;
  /** Bytes of it that are in use: the others are free after a compaction. */
  readonly dbSizeInUse?: string;
  /** Since etcd 3.6. */
  readonly dbSizeQuota?: string;
  /** The identifier of the leader that the member follows; 0 or absent where it knows none. */
  readonly leader?: string;
  /** How far the log is committed, as far as the member knows. */
  readonly raftIndex?: string;
  /** Alarms, and that there is no leader. */
  readonly errors: readonly string[];
}

const definitions = loadSync(fileURLToPath(new URL('../proto/etcd.proto', import.meta.url)), {
  keepCase: true,
  longs: String,
  enums: String,
  arrays: true,
});

function methodOf<Request extends object, Response extends object>(service: string, name: string): MethodDefinition<Request, Response> {
  return (definitions[`etcdserverpb.${service}`] as ServiceDefinition)[name] as MethodDefinition<Request, Response>;
}

export const TXN = methodOf<TxnRequest, TxnResponse>('KV', 'Txn');
export const COMPACT = methodOf<{ revision: number }, { header: Header }>('KV', 'Compact');
export const WATCH = methodOf<WatchRequest, WatchResponse>('Watch', 'Watch');
export const AUTHENTICATE = methodOf<{ name: string; password: string }, { token: string }>('Auth', 'Authenticate');
export const STATUS = methodOf<object, StatusResponse>('Maintenance', 'Status');

/** Reads one key. */
export function get(key: Buffer, options: Omit<RangeRequest, 'key'> = {}): Op {
  return { request_range: { key, ...options } };
}

export function put(key: Buffer, value: Uint8Array): Op {
  return { request_put: { key, value } };
}

export function remove(key: Buffer, end?: Buffer): Op {
  return { request_delete_range: end ? { key, range_end: end } : { key } };
}

export function isAt(key: Buffer, revision: number): Compare {
  return { result: 'EQUAL', target: 'MOD', key, mod_revision: revision };
}

/** The first key that was found by an operation of a transaction. */
export function firstOf(response: OpResponse | undefined): KeyValue | undefined {
  return response?.response_range?.kvs[0];
}
