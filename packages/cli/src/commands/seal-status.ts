import type { ApiClient } from '../client.ts';
import { ApiFailure } from '../failure.ts';
import { goTime, goValue } from '../format/go-value.ts';
import type { JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';

/** Who leads the cluster. A sealed server may refuse to say: that is no failure. */
export async function leaderOf(client: ApiClient): Promise<JsonRecord> {
  try {
    return await client.record('GET', 'sys/leader', { unwrapped: true, preflight: true });
  } catch (error) {
    if (error instanceof ApiFailure && error.message.includes('Vault is sealed')) return {};
    throw error;
  }
}

function highAvailabilityRows(seal: JsonRecord, leader: JsonRecord): [string, string][] {
  if (leader['ha_enabled'] === undefined) return [];
  const rows: [string, string][] = [['HA Enabled', goValue(leader['ha_enabled'])]];
  if (leader['ha_enabled'] !== true || seal['sealed'] === true) return rows;
  rows.push(['HA Cluster', goValue(leader['leader_cluster_address'] || 'n/a')]);
  rows.push(['HA Mode', leader['is_self'] === true ? 'active' : 'standby']);
  if (leader['is_self'] === true) {
    if (typeof leader['active_time'] === 'string') rows.push(['Active Since', goTime(leader['active_time'])]);
  } else rows.push(['Active Node Address', goValue(leader['leader_address'] || '<none>')]);
  if (leader['raft_committed_index'] !== undefined) rows.push(['Raft Committed Index', goValue(leader['raft_committed_index'])]);
  if (leader['raft_applied_index'] !== undefined) rows.push(['Raft Applied Index', goValue(leader['raft_applied_index'])]);
  return rows;
}

function sealRows(seal: JsonRecord): [string, string][] {
  const recovery = seal['recovery_seal'] === true;
  const rows: [string, string][] = [['Seal Type', goValue(seal['type'])]];
  if (recovery) rows.push(['Recovery Seal Type', goValue(seal['recovery_seal_type'])]);
  rows.push(
    ['Initialized', goValue(seal['initialized'])],
    ['Sealed', goValue(seal['sealed'])],
    [recovery ? 'Total Recovery Shares' : 'Total Shares', goValue(seal['n'])],
    ['Threshold', goValue(seal['t'])],
  );
  if (seal['sealed'] === true) {
    rows.push(['Unseal Progress', `${goValue(seal['progress'])}/${goValue(seal['t'])}`], ['Unseal Nonce', String(seal['nonce'] ?? '')]);
  }
  if (seal['migration'] === true) rows.push(['Seal Migration in Progress', 'true']);
  rows.push(['Version', String(seal['version'] ?? '')]);
  if (seal['build_date'] !== undefined) rows.push(['Build Date', goValue(seal['build_date'])]);
  if (seal['commit_date'] !== undefined) rows.push(['Commit Date', goValue(seal['commit_date'])]);
  if (seal['storage_type'] !== undefined) rows.push(['Storage Type', goValue(seal['storage_type'])]);
  const workers = seal['workers'] as { running?: number; configured?: number } | undefined;
  if (workers) rows.push(['Workers', `${goValue(workers.running)} of ${goValue(workers.configured)}`]);
  if (seal['cluster_name'] !== undefined) rows.push(['Cluster Name', goValue(seal['cluster_name'])]);
  if (seal['cluster_id'] !== undefined) rows.push(['Cluster ID', goValue(seal['cluster_id'])]);
  return rows;
}

/** The seal status and the leader as one table, or as one object. */
export async function showSealStatus(out: Output, seal: JsonRecord, leader: JsonRecord): Promise<void> {
  await out.rows(['Key', 'Value'], [...sealRows(seal), ...highAvailabilityRows(seal, leader)], { ...seal, ...leader });
  if (!out.plain || !Array.isArray(seal['warnings'])) return;
  for (const warning of seal['warnings']) out.warn(`\nWARNING! ${String(warning)}`);
}
