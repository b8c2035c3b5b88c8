import { isIP } from 'node:net';

/** Whether a host is this machine by its name or address: `localhost`, `127.0.0.0/8` or `::1`, with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
