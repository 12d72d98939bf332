// max-price-wasm: the policy max-price in AssemblyScript. Both answer alike; this
// one is here to show the ceiling hook in WebAssembly.
import { CAPACITY_SPOT, Caps, Config, Launches, onCeiling, onConfigure, Scopes } from "../../sdk/assemblyscript/assembly";
export * from "../../sdk/assemblyscript/assembly/exports";

let hourly: f64 = 0;
let perVCPU: f64 = 0;
let spotShare: f64 = 0.9;

onConfigure((config: Config): void => {
  hourly = config.float("hourlyUSD", 0);
  perVCPU = config.float("perVCPU", 0);
  spotShare = config.float("spotShare", 0.9);
  if (hourly < 0 || perVCPU < 0 || spotShare < 0) config.error("config: a bound is negative");
});

onCeiling((scopes: Scopes, launches: Launches, out: Caps): void => {
  for (let i = 0; i < launches.length; i++) {
    const l = launches.at(i);
    if (hourly > 0 && l.price > hourly) {
      out.deny(i, "the node costs more than hourlyUSD");
    } else if (perVCPU > 0 && l.price > l.vcpu * perVCPU) {
      out.deny(i, "the node costs more than perVCPU");
    } else if (spotShare > 0 && l.capacityType == CAPACITY_SPOT && l.onDemand > 0 && l.price > l.onDemand * spotShare) {
      out.deny(i, "spot costs more than spotShare of on-demand");
    }
  }
});
