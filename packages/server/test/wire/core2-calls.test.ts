import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { recordedCalls, type Difference, type RecordedCall } from '@strongroom/engine-testkit';
import { startWireServer } from './wire-server.ts';

const calls = JSON.parse(readFileSync(new URL('./core2-calls.json', import.meta.url), 'utf8')) as RecordedCall[];

const NO_PROFILES = 'a profile of a program that holds secrets may hold them; who may attach to the process has the profiler of Node.js';
const OURS = 'what a caller did wrong is a 4xx here';

const differences: Readonly<Record<number, Difference>> = {
  1: { why: 'there are none, and saying so harms nobody', status: 200 },
  2: { why: OURS, status: 403 },
  25: { why: 'the insides are not served', status: 404 },
  31: { why: OURS, status: 400 },
  52: { why: NO_PROFILES, status: 404 },
  53: { why: NO_PROFILES, status: 404 },
  54: { why: NO_PROFILES, status: 404 },
  55: { why: NO_PROFILES, status: 404 },
  56: { why: NO_PROFILES, status: 404 },
  57: { why: NO_PROFILES, status: 404 },
  58: { why: NO_PROFILES, status: 403, errors: ['permission denied'] },
  60: { why: 'metrics of Prometheus are on by default', status: 200 },
  65: { why: OURS, status: 400 },
  66: { why: OURS, status: 400 },
  97: { why: 'the text names the parameter', status: 400, errors: ['activecode must be an HTTP status code'] },
  103: { why: 'Vault has the path, and so have we', status: 200 },
  104: { why: 'Vault has the path, and so have we', status: 400, errors: [/in shares/] },
  110: { why: 'the text names the kinds that there are', status: 400 },
  120: { why: OURS, status: 400 },
  121: { why: OURS, status: 400 },
  131: { why: 'a scope that is not known is refused', status: 400, errors: ["reload scope must be omitted or 'global'"] },
  132: { why: 'Vault has the path, and so have we', status: 400, errors: ['reload_id is required'] },
  133: { why: 'Vault has the path, and so have we', status: 404, errors: [] },
};

/** What the machine would have to be asked for by other means than those of Node.js, and settings of features that are not here. */
const missingKeys = [
  /^\.data\.cpu\[\]\.(vendorId|family|model|stepping|physicalId|coreId|cacheSize|flags|microcode)$/,
  /^\.data\.cpu_times\[\]\.(iowait|softirq|steal|guest|guestNice)$/,
  /^\.data\.host\.(procs|platformFamily|virtualizationSystem|virtualizationRole|hostid)$/,
  /^\.data\.memory\.(active|inactive|wired|laundry|writeback|dirty|writebacktmp|shared|slab|sreclaimable|sunreclaim|pagetables|swapcached)$/,
  /^\.data\.memory\.(commitlimit|committedas|hightotal|highfree|lowtotal|lowfree|mapped|vmalloctotal|vmallocused|vmallocchunk)$/,
  /^\.data\.memory\.hugepage(s?total|sfree|size)$/,
  /^\.data\.(allow_audit_log_prefixing|allow_unauthenticated_workflows|cache_size|cluster_addr|cluster_cipher_suites|detect_deadlocks)$/,
  /^\.data\.(default_max_request_duration|log_requests_level|imprecise_lease_role_tracking|unsafe_.*|disable_.*|plugin_.*)$/,
  /^\.data\.enable_response_header_(hostname|raft_node_id)$/,
  /^\.data\.storage\.(cluster_addr|disable_clustering|raft|redirect_addr)$/,
  /^\.data\.listeners\[\]\.config\.disable_unauthed_.*_endpoints$/,
  '.data.key_info.2.0.0',
];
/** The version of this server. */
const extraKeys = [/^\.data\.key_info\.2\.0\.0\+strongroom/, '.data.build_date'];

describe('the recorded calls of interfaces, dashboards and support tools', () => {
  let server: Awaited<ReturnType<typeof startWireServer>>;
  beforeAll(async () => {
    server = await startWireServer();
  });
  afterAll(async () => server.stop());

  recordedCalls({ test }, { calls, differences, missingKeys, extraKeys, ask: (call, asked) => server.ask(call, asked) });
});
