import cassandra from 'cassandra-driver';

const { loadBalancing } = cassandra.policies;
const { distance } = cassandra.types;

/**
 * The nodes of one data centre by turns. The driver's own policy gives up in the midst of connecting where there are none, and leaves a connection
 * behind; this one leaves it to the caller to look.
 */
export class LocalNodesPolicy extends loadBalancing.RoundRobinPolicy {
  readonly #datacenter: string;

  constructor(datacenter: string) {
    super();
    this.#datacenter = datacenter;
  }

  override getDistance(host: cassandra.Host): cassandra.types.distance {
    return host.datacenter === this.#datacenter ? distance.local : distance.ignored;
  }

  override newQueryPlan(
    keyspace: string,
    options: cassandra.ExecutionOptions,
    callback: (error: Error, plan: Iterator<cassandra.Host>) => void,
  ): void {
    super.newQueryPlan(keyspace, options, (error, plan) => callback(error, this.#localOf(plan)));
  }

  *#localOf(plan: Iterator<cassandra.Host>): Generator<cassandra.Host> {
    for (let step = plan.next(); !step.done; step = plan.next()) if (step.value.datacenter === this.#datacenter) yield step.value;
  }
}
