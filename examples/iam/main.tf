# What Spokeshave needs in an AWS account, for one EKS cluster.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.0" }
  }
}

variable "cluster_name" {
  description = "Name of the EKS cluster."
  type        = string
}

variable "node_role_arn" {
  description = "ARN of an existing role for nodes, such as Karpenter's. Empty makes one."
  type        = string
  default     = ""
}

variable "controller_role_name" {
  description = "Name of an existing role that gets the controller's policy. Empty makes one for EKS Pod Identity."
  type        = string
  default     = ""
}

variable "interruption_queue_name" {
  description = "Name of an existing queue that EventBridge rules fill, such as Karpenter's. Empty makes queue and rules."
  type        = string
  default     = ""
}

variable "manage_instance_profiles" {
  description = "Whether the controller makes instance profiles for the role of each EC2NodeClass. With false, EC2NodeClasses name spec.instanceProfile."
  type        = bool
  default     = true
}

data "aws_caller_identity" "this" {}
data "aws_partition" "this" {}
data "aws_region" "this" {}

locals {
  make_node_role       = var.node_role_arn == ""
  make_controller_role = var.controller_role_name == ""
  make_queue           = var.interruption_queue_name == ""

  node_role_arn        = local.make_node_role ? one(aws_iam_role.node[*].arn) : var.node_role_arn
  controller_role_name = local.make_controller_role ? one(aws_iam_role.controller[*].name) : var.controller_role_name
  queue_name           = local.make_queue ? "Spokeshave-${var.cluster_name}" : var.interruption_queue_name

  # The statements that are needed only where the controller makes instance profiles.
  profile_statements = ["MakeInstanceProfiles", "KeepInstanceProfiles", "ListInstanceProfiles", "SeeInstanceProfiles"]
  policy = jsondecode(templatefile("${path.module}/controller-policy.json", {
    partition = data.aws_partition.this.partition
    region    = data.aws_region.this.name
    account   = data.aws_caller_identity.this.account_id
    cluster   = var.cluster_name
    queue     = local.queue_name
    node_role = local.node_role_arn
  }))
}

resource "aws_iam_role" "node" {
  count = local.make_node_role ? 1 : 0
  name  = "SpokeshaveNode-${var.cluster_name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ec2.${data.aws_partition.this.dns_suffix}" }
      Action    = "sts:AssumeRole"
    }]
  })
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each = toset(!local.make_node_role ? [] : [
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
  ])
  role       = one(aws_iam_role.node[*].name)
  policy_arn = "arn:${data.aws_partition.this.partition}:iam::aws:policy/${each.value}"
}

resource "aws_iam_role" "controller" {
  count = local.make_controller_role ? 1 : 0
  name  = "SpokeshaveController-${var.cluster_name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "pods.eks.amazonaws.com" }
      Action    = ["sts:AssumeRole", "sts:TagSession"]
    }]
  })
}

resource "aws_iam_policy" "controller" {
  name = "SpokeshaveController-${var.cluster_name}"
  policy = jsonencode({
    Version = local.policy.Version
    Statement = [
      for s in local.policy.Statement : s
      if var.manage_instance_profiles || !contains(local.profile_statements, s.Sid)
    ]
  })
}

resource "aws_iam_role_policy_attachment" "controller" {
  role       = local.controller_role_name
  policy_arn = aws_iam_policy.controller.arn
}

resource "aws_sqs_queue" "interruption" {
  count                     = local.make_queue ? 1 : 0
  name                      = local.queue_name
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "interruption" {
  count     = local.make_queue ? 1 : 0
  queue_url = one(aws_sqs_queue.interruption[*].url)
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }
        Action    = "sqs:SendMessage"
        Resource  = one(aws_sqs_queue.interruption[*].arn)
      },
      {
        Sid       = "DenyHTTP"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = one(aws_sqs_queue.interruption[*].arn)
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

locals {
  rules = {
    spotinterruption     = { source = "aws.ec2", detail_type = "EC2 Spot Instance Interruption Warning" }
    rebalance            = { source = "aws.ec2", detail_type = "EC2 Instance Rebalance Recommendation" }
    statechange          = { source = "aws.ec2", detail_type = "EC2 Instance State-change Notification" }
    capacityreservation  = { source = "aws.ec2", detail_type = "EC2 Capacity Reservation Instance Interruption Warning" }
    scheduledchange      = { source = "aws.health", detail_type = "AWS Health Event" }
  }
}

resource "aws_cloudwatch_event_rule" "interruption" {
  for_each = local.make_queue ? local.rules : {}
  name     = "Spokeshave-${var.cluster_name}-${each.key}"
  event_pattern = jsonencode({
    source        = [each.value.source]
    "detail-type" = [each.value.detail_type]
  })
}

resource "aws_cloudwatch_event_target" "interruption" {
  for_each = local.make_queue ? local.rules : {}
  rule     = aws_cloudwatch_event_rule.interruption[each.key].name
  arn      = one(aws_sqs_queue.interruption[*].arn)
}

output "controller_role_name" {
  value = local.controller_role_name
}

output "node_role_name" {
  description = "For EC2NodeClasses' spec.role."
  value       = reverse(split("/", local.node_role_arn))[0]
}

output "interruption_queue_name" {
  description = "For settings.interruptionQueue."
  value       = local.queue_name
}
