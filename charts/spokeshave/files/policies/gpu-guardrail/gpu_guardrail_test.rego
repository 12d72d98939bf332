package spokeshave.ceiling_test

import data.spokeshave.ceiling

config := {"nodePools": ["gpu"], "labels": {"team": "ml"}, "namespaces": ["train"], "caps": {"nodepool/gpu": {"hourly_usd": 40}}}

launch(pool, labels, gpus, namespaces) := {"launch": {"nodePool": pool, "nodePoolLabels": labels, "gpus": gpus, "namespaces": namespaces}}

test_the_caps_are_those_of_the_configuration if {
	ceiling.cap == {"nodepool/gpu": {"hourly_usd": 40}} with data.config as config
}

test_by_name if {
	count(ceiling.deny) == 0 with input as launch("gpu", {}, 8, ["train"]) with data.config as config
}

test_by_label if {
	count(ceiling.deny) == 0 with input as launch("any", {"team": "ml"}, 8, ["train"]) with data.config as config
}

test_others_may_not if {
	ceiling.deny == {"NodePool web may not launch accelerators"} with input as launch("web", {"team": "web"}, 1, ["train"]) with data.config as config
}

test_nor_other_namespaces if {
	ceiling.deny == {"namespace shop may not have accelerators"} with input as launch("gpu", {}, 1, ["shop", "train"]) with data.config as config
}

test_no_accelerator_no_question if {
	count(ceiling.deny) == 0 with input as launch("web", {}, 0, ["shop"]) with data.config as config
}
