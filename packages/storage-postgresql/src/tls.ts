import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { StorageFailure } from '@strongroom/storage-sdk';
import { codeOf, NAME } from './failure.ts';
import { shown } from './shown.ts';

/** What Node calls the content of each file. */
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;

/**
 * How the parameters of a connection URL want the connection encrypted; undefined where they do not say. Reads the files again, as certificates are renewed.
 * @throws StorageFailure for a file that cannot be read
 */
export function tlsOf(parameters: URLSearchParams): boolean | ConnectionOptions | undefined {
  const mode = parameters.get('sslmode');
  const files = Object.entries(FILES).flatMap(([name, option]) => {
    const path = parameters.get(name);
    return path ? [[option, contentOf(name, path)] as const] : [];
  });
  if (mode === 'disable') return false;
  if (mode === null && files.length === 0) return withoutMode(parameters);
  const contents: ConnectionOptions = Object.fromEntries(files);
  return { ...contents, ...checksOf(mode, parameters.get('uselibpqcompat') === 'true', contents.ca !== undefined) };
}

function withoutMode(parameters: URLSearchParams): boolean | ConnectionOptions | undefined {
  switch (parameters.get('ssl')) {
    case null:
      return parameters.get('sslnegotiation') === 'direct' ? true : undefined;
    case 'no-verify':
      return { rejectUnauthorized: false };
    case 'true':
    case '1':
      return true;
    default:
      return false;
  }
}

/** The certificate and its name are checked, unless the mode says otherwise. `compatible`: the mode means what it means to libpq. */
function checksOf(mode: string | null, compatible: boolean, hasRoot: boolean): ConnectionOptions {
  const ofAnyName = { checkServerIdentity: () => undefined };
  if (mode === 'no-verify' || (compatible && mode === 'prefer')) return { rejectUnauthorized: false };
  if (compatible && mode === 'require') return hasRoot ? ofAnyName : { rejectUnauthorized: false };
  return compatible && mode === 'verify-ca' ? ofAnyName : {};
}

function contentOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    const reason = code === 'EISDIR' ? 'it is a folder' : String(code);
    throw new StorageFailure(NAME, `the file ${shown(path)}, which ${name} of the connection URL names, cannot be read: ${reason}`);
  }
}
