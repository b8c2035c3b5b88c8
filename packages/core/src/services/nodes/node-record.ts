import { Type, type Static } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';

/** What a server, or each process of one that has several, says of itself every ten seconds while it is unsealed. Times are milliseconds since the epoch, by its own clock. */
export const NodeRecord = Type.Object({
  /** The server that the process belongs to, where it has several. */
  server: Type.Optional(Type.String()),
  hostname: Type.String(),
  /** Where clients reach it; '' where it was not told. */
  address: Type.String(),
  version: Type.String(),
  started: Type.Number(),
  unsealed: Type.Number(),
  seen: Type.Number(),
  /** The life of its process that others watch: see incarnations. */
  incarnation: Type.String(),
  requests: Type.Number(),
  work: Type.Number(),
});
export type NodeRecord = Static<typeof NodeRecord>;

export const nodeRecords = new Records('core/node/', NodeRecord);

/** `core/node-sealed/<id>/<milliseconds>`: made without keys, while they are being forgotten. */
export const SEALED = 'core/node-sealed/';
