import type { ApiClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { ApiFailure, doing, EXIT, Failure } from '../failure.ts';
import { alignColumns } from '../format/columns.ts';
import { goTime, goValue } from '../format/go-value.ts';
import { isRecord } from '../json.ts';
import type { Output } from '../output.ts';

async function showKeyStatus(out: Output, client: ApiClient, preflight: boolean): Promise<void> {
  const secret = await doing('Error reading key status', client.secret('GET', 'sys/key-status', { unwrapped: true, preflight }));
  const data = secret?.data;
  if (secret === undefined || data === undefined) throw new Failure('The server returned no key status', EXIT.remote);
  if (!out.plain) return out.secret(secret);
  const rows: [string, string][] = [
    ['Key Term', goValue(data['term'])],
    ['Install Time', goTime(goValue(data['install_time']))],
  ];
  if (data['encryptions'] !== undefined) rows.push(['Encryption Count', goValue(data['encryptions'])]);
  out.line(alignColumns(rows));
}

export const keyStatus = defineCommand({
  name: 'key-status',
  synopsis: 'Print the state of the encryption key',
  args: [],
  flags: {},
  examples: [{ text: 'How old is the key?', command: 'operator key-status' }],
  async run({ out, client }) {
    await showKeyStatus(out, client(), false);
  },
});

export const rotate = defineCommand({
  name: 'rotate',
  synopsis: 'Make a new encryption key',
  description: 'Makes a new key for what is stored from now on. Older keys stay, to read what they wrote.',
  args: [],
  flags: {},
  examples: [{ text: 'Rotate the key:', command: 'operator rotate' }],
  async run({ out, client }) {
    const api = client();
    try {
      await doing('Error rotating key', api.call('POST', 'sys/rotate/keyring', { unwrapped: true }));
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
      await doing('Error rotating key', api.call('PUT', 'sys/rotate', { unwrapped: true }));
    }
    out.success('Rotated key\n');
    await showKeyStatus(out, api, true);
  },
});

export const members = defineCommand({
  name: 'members',
  synopsis: 'List the nodes of the cluster',
  args: [],
  flags: {},
  examples: [{ text: 'Which nodes are up?', command: 'operator members' }],
  async run({ out, client }) {
    const secret = await doing('Error reading the members', client().read('sys/ha-status'));
    const nodes = secret?.data?.['nodes'];
    const list = (Array.isArray(nodes) ? nodes : []).filter(isRecord);
    const cell = (value: unknown) => (value === undefined || value === null ? '' : String(value));
    const columns = ['hostname', 'api_address', 'cluster_address', 'active_node', 'version', 'last_echo'];
    const header = ['Host Name', 'API Address', 'Cluster Address', 'Active Node', 'Version', 'Last Echo'];
    await out.rows(
      header,
      list.map((node) => columns.map((column) => cell(node[column]))),
      { nodes: list },
    );
  },
});
