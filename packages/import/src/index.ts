export type { OnConflict } from './carrier.ts';
export type { Versions } from './context.ts';
export { ImportStopped } from './failures.ts';
export { exitCodeOf, reportText, type Ends, type Report } from './report.ts';
export { runImport, type ImportOrder } from './run-import.ts';
export { readSecretsFile, SecretsFile } from './secrets-file.ts';
export type { Line, Outcome } from './thing.ts';
export type { Reply, Wire, WireOptions } from './wire.ts';
