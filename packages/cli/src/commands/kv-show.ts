import { Failure } from '../failure.ts';
import { banner, bannerOver, table } from '../format/columns.ts';
import { dataRows } from '../format/secret-table.ts';
import { isRecord } from '../json.ts';
import type { JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import type { Secret } from '../secret.ts';

export function titled(out: Output, title: string, data: JsonRecord): void {
  const rows = dataRows(data);
  out.line(bannerOver(title, new Map(rows).keys()));
  out.line(table(['Key', 'Value'], rows));
}

export function pathBlock(out: Output, title: string, path: string): void {
  out.line(banner(title, path.length));
  out.line(`${path}\n`);
}

/** What a write to version 2 answers: the path, then the new version's metadata. */
export async function showWritten(out: Output, path: string, secret: Secret): Promise<void> {
  if (!out.plain || secret.wrap_info !== undefined) return out.secret(secret);
  out.warnings(secret);
  pathBlock(out, 'Secret Path', path);
  titled(out, 'Metadata', secret.data ?? {});
}

/** A read of version 2: path, metadata and data as three blocks; `-field` looks into the data first. */
export async function showVersioned(out: Output, path: string, secret: Secret): Promise<void> {
  const values = secret.data?.['data'];
  if (out.field !== undefined) {
    if (isRecord(values) && Object.hasOwn(values, out.field)) return out.rawField(values[out.field]);
    if (out.field !== 'data' && out.field !== 'metadata' && secret.wrap_info === undefined) {
      throw new Failure(`Field "${out.field}" not present in secret`);
    }
    return out.secret(secret);
  }
  if (out.format !== 'table' || secret.wrap_info !== undefined) return out.secret(secret);
  out.warnings(secret);
  pathBlock(out, 'Secret Path', path);
  const metadata = secret.data?.['metadata'];
  if (isRecord(metadata)) titled(out, 'Metadata', metadata);
  if (!isRecord(values)) return;
  out.line('');
  titled(out, 'Data', values);
}
