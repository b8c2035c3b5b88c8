import { awsProvider } from './aws/aws-provider.ts';
import { cloudEngine } from './cloud-engine.ts';

/** The engine that operators mount as `aws`. */
export const awsEngine = cloudEngine(awsProvider);
