import { startKubernetesApi } from '@strongroom/lab';

/**
 * The emulated API server of the lab in a separate process, so that its work is not measured. Sends its address, its CA, the reviewer's token and tokens
 * of as many accounts as the first argument says; each request afterwards gets the counts of its connections and of the most requests at one time.
 */
const api = await startKubernetesApi();
const tokens = Array.from({ length: Number(process.argv[2]) }, (_, i) =>
  api.issue({ name: `app-${i}`, audiences: ['strongroom'], expires: 3_600 }),
);
process.send!({ url: api.url, ca: api.ca, reviewer: api.reviewer, tokens });
process.on('message', () => process.send!({ connections: api.connections, mostAtOnce: api.mostAtOnce, requests: api.requests.length }));
process.on('disconnect', () => process.exit());
